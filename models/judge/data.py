"""Training data of the judge: candidate lists for relevance and labelled (claim, window) pairs for support.

Sources: RAGBench *validation* rows, XQuAD, CMRC 2018 and JaQuAD. Cranfield, CISI, NPL and every RAGBench *test* row stay out:
they measure. Everything is seeded, deduplicated and split by question: about 15 % of the questions are held out from both
tasks, for calibration, the blend and every choice between variants. Relevance labels of expertqa, emanual and delucionqa are
not used at all, so these three show how ranking transfers to collections that were not trained on.
"""
from __future__ import annotations

import hashlib
import json
import os
import random
import re
from pathlib import Path

SEED = 20
SUBSETS = ["covidqa", "delucionqa", "emanual", "expertqa", "hagrid", "hotpotqa", "msmarco"]
RANKED = ["hotpotqa", "msmarco", "hagrid", "covidqa"]
OTHER_LANGUAGES = ["xquad/de", "xquad/es", "xquad/ro", "xquad/vi", "xquad/tr", "xquad/zh", "cmrc2018-zh", "jaquad-ja"]
WINDOW = 5
SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])")


def data_folder() -> Path:
    """`ADRAG_DATA`, or `../shared/data` beside the repository."""
    return Path(os.environ.get("ADRAG_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")


def normal(text: str) -> str:
    return " ".join(text.lower().split())


def held_out(question: str) -> bool:
    """Whether a question belongs to the 15 % that no training pair may use."""
    return int(hashlib.sha256(f"{SEED}:{normal(question)}".encode()).hexdigest()[:8], 16) % 100 < 15


def load_tokenizer():
    from tokenizers import Tokenizer

    from model import embedder_folder

    tokenizer = Tokenizer.from_file(str(embedder_folder() / "tokenizer.json"))
    tokenizer.no_padding(), tokenizer.no_truncation()
    return tokenizer


def encode(tokenizer, first: str, second: str, limit: int, first_limit: int = 72) -> tuple[list[int], int]:
    """Word pieces of `[CLS] first [SEP] second [SEP]` and the length of the first segment; the second is cut to fit."""
    head = tokenizer.encode(first, add_special_tokens=False).ids[: first_limit - 2]
    tail = tokenizer.encode(second, add_special_tokens=False).ids[: limit - len(head) - 3]
    return [101] + head + [102] + tail + [102], len(head) + 2


def jsonl(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def collection(data: Path, name: str):
    """(document ids, texts, queries, qrels) of one retrieval collection."""
    folder = data / "retrieval" / name
    docs = jsonl(folder / "corpus.jsonl")
    qrels: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels" / "test.tsv").read_text().splitlines()[1:]:
        query, doc, gain = line.split("\t")
        if int(gain) > 0:
            qrels.setdefault(query, {})[doc] = int(gain)
    return [d["_id"] for d in docs], [f"{d['title']} {d['text']}".strip() for d in docs], jsonl(folder / "queries.jsonl"), qrels


def rows(data: Path) -> list[dict]:
    """RAGBench validation rows with clean keys; a question that also occurs in the test sample is dropped."""
    import pyarrow.parquet as parquet

    measured = {normal(r["question"]) for r in jsonl(data / "ragbench" / "sample-open.jsonl")}
    for name in SUBSETS:
        measured |= {normal(q["text"]) for q in collection(data, f"ragbench-derived/{name}")[2] if "-test-" in q["_id"]}
    seen, out = set(), []
    for subset in SUBSETS:
        for row in parquet.read_table(data / "ragbench" / "parquet" / f"{subset}-validation.parquet").to_pylist():
            key = (normal(row["question"]), normal(row["response"]))
            if key in seen or key[0] in measured:
                continue
            seen.add(key)
            out.append(clean(row, subset))
    return out


def clean(row: dict, subset: str) -> dict:
    """The fields the judge needs. Some keys in the labels carry a trailing dot that the sentences do not."""
    strip = lambda keys: {k.strip(".") for k in keys or []}
    return {
        "subset": subset,
        "question": row["question"],
        "documents": row["documents"],
        "docs": [[(k.strip("."), s) for k, s in doc] for doc in row["documents_sentences"]],
        "sentences": [(k.strip("."), s) for k, s in row["response_sentences"]],
        "support": {s["response_sentence_key"].strip("."): strip(s["supporting_sentence_keys"]) for s in row["sentence_support_information"]},
        "unsupported": strip(row["unsupported_response_sentence_keys"]),
        "relevant": strip(row["all_relevant_sentence_keys"]),
        "held": held_out(row["question"]),
    }


def windows(doc: list[tuple[str, str]], size: int = WINDOW, stride: int = 2) -> list[tuple[set[str], str]]:
    """Sentence windows of one document as (keys, text)."""
    starts = range(0, max(1, len(doc) - size + stride), stride)
    return [({k for k, _ in doc[i : i + size]}, " ".join(s.strip() for _, s in doc[i : i + size])) for i in starts]


def overlap(claim: str, text: str) -> float:
    """Share of the claim's words that the text holds: a cheap order of windows."""
    from retrieval import words

    mine = set(words(claim))
    return len(mine & set(words(text))) / max(1, len(mine))


# ---------------------------------------------------------------- support

ANTONYMS = [("increase", "decrease"), ("increased", "decreased"), ("increases", "decreases"), ("before", "after"), ("first", "last"), ("more", "less"),
            ("higher", "lower"), ("high", "low"), ("always", "never"), ("north", "south"), ("east", "west"), ("male", "female"),
            ("largest", "smallest"), ("above", "below"), ("open", "close"), ("start", "stop"), ("left", "right"), ("up", "down"),
            ("enable", "disable"), ("older", "younger"), ("most", "least"), ("all", "none"), ("with", "without"), ("positive", "negative")]
SWAPS = {a: b for a, b in ANTONYMS} | {b: a for a, b in ANTONYMS}
NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][\w'-]+(?: [A-Z][\w'-]+)*")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
AUXILIARY = re.compile(r"\b(is|are|was|were|can|will|should|has|have|does|may|must|could)\b")


def near_miss(claim: str, context: str, dice: random.Random) -> str | None:
    """The claim with one number, name, polarity or opposite changed; None when nothing can be changed."""
    for way in dice.sample(["number", "name", "opposite", "negation"], 4):
        if way in ("number", "name"):
            pattern = NUMBER if way == "number" else NAME
            spots = list(pattern.finditer(claim))
            if not spots:
                continue
            spot = dice.choice(spots)
            others = sorted({m.group() for m in pattern.finditer(context)} - {m.group() for m in spots})
            others = [o for o in others if o.lower() not in claim.lower()]
            if way == "number" and (not others or dice.random() < 0.3) and spot.group().isdigit():
                others = [str(int(spot.group()) + dice.choice([-3, -2, -1, 1, 2, 3, 10]))]
            if others:
                return claim[: spot.start()] + dice.choice(others) + claim[spot.end() :]
        elif way == "opposite":
            spots = [m for m in re.finditer(r"[a-z]+", claim) if m.group() in SWAPS]
            if spots:
                spot = dice.choice(spots)
                return claim[: spot.start()] + SWAPS[spot.group()] + claim[spot.end() :]
        else:
            if " not " in claim:
                return claim.replace(" not ", " ", 1)
            spot = AUXILIARY.search(claim)
            if spot:
                return claim[: spot.end()] + " not" + claim[spot.end() :]
    return None


def support_pairs(source: list[dict], dice: random.Random, per_subset: int = 1600) -> list[dict]:
    """{first, second, label, kind}: kinds are gold, general, unsupported, other, nearmiss, quote, quotemiss."""
    out, taken = [], {}
    source = source[:]
    dice.shuffle(source)
    for row in source:
        parts = [w for doc in row["docs"] if doc for w in windows(doc)]
        if not parts:
            continue

        def add(claim: str, text: str, label: float, kind: str) -> None:
            first = f"{row['question']} {claim}" if dice.random() < 0.5 else claim
            out.append({"first": first, "second": text, "label": label, "kind": kind, "subset": row["subset"]})

        for key, claim in row["sentences"]:
            if len(claim) < 12:
                continue
            ranked = sorted(parts, key=lambda w: -overlap(claim, w[1]))
            if key in row["unsupported"]:
                for part in ranked[:2]:
                    add(claim, part[1], 0.0, "unsupported")
                if row["subset"] != "expertqa" and len(ranked) > 2:
                    add(claim, dice.choice(ranked[2:])[1], 0.0, "unsupported")
                continue
            taken[row["subset"]] = taken.get(row["subset"], 0) + 1
            if taken[row["subset"]] > per_subset:
                continue
            keys = row["support"].get(key, set()) & {k for w in parts for k in w[0]}
            if not keys:
                add(claim, ranked[0][1], 0.9, "general")
                continue
            best = max(ranked, key=lambda w: len(keys & w[0]))
            share = len(keys & best[0]) / min(len(keys), WINDOW)
            add(claim, best[1], max(0.6, share), "gold")
            without = [w for w in ranked if not keys & w[0]]
            if without and dice.random() < 0.3:
                add(claim, without[0][1] if dice.random() < 0.5 else dice.choice(without)[1], 0.0, "other")
            changed = near_miss(claim, best[1], dice) if dice.random() < 0.4 else None
            if changed:
                add(changed, best[1], 0.0, "nearmiss")
        if dice.random() < 0.4:
            part = dice.choice(parts)
            quote = dice.choice([s for s in SENTENCE.split(part[1])] or [part[1]]).strip()
            if len(quote) > 25:
                add(quote, part[1], 1.0, "quote")
                changed = near_miss(quote, part[1], dice)
                if changed:
                    add(changed, part[1], 0.0, "quotemiss")
    return dedup(out, lambda p: (p["first"], p["second"]))


def dedup(items: list, key) -> list:
    seen, out = set(), []
    for item in items:
        if key(item) not in seen:
            seen.add(key(item))
            out.append(item)
    return out


def answer_pairs(data: Path, dice: random.Random) -> list[dict]:
    """Question and short answer as the claim: the right answer, another answer of the same passage, a passage without the answer."""
    ids, texts, queries, qrels = collection(data, "xquad/en")
    at, out = dict(zip(ids, texts)), []
    asked: dict[str, list[tuple[str, str]]] = {}
    for query in queries:
        answer = (query.get("metadata", {}).get("answers") or [""])[0]
        if answer and not held_out(query["text"]):
            asked.setdefault(next(iter(qrels[query["_id"]])), []).append((query["text"], answer))
    for doc, pairs in asked.items():
        for question, answer in pairs:
            text = around(at[doc], answer)
            claim = {"second": text, "subset": "xquad"}
            out.append(claim | {"first": f"{question} {answer}", "label": 1.0, "kind": "answer"})
            others = [a for q, a in pairs if q != question and a in text and a.lower() not in answer.lower() and answer.lower() not in a.lower()]
            if others:
                out.append(claim | {"first": f"{question} {dice.choice(others)}", "label": 0.0, "kind": "otheranswer"})
            elsewhere = [d for d in asked if d != doc and answer.lower() not in at[d].lower()]
            if dice.random() < 0.3 and elsewhere:
                best = max(dice.sample(elsewhere, min(12, len(elsewhere))), key=lambda d: overlap(question, at[d]))
                out.append({"first": f"{question} {answer}", "second": at[best][:560], "label": 0.0, "kind": "elsewhere", "subset": "xquad"})
    return out


# ---------------------------------------------------------------- relevance


class Pool:
    """Passages of one collection with the embedder's vectors and BM25: mines negatives and gives the teacher's scores."""

    def __init__(self, name: str, texts: list[str], dense):
        from retrieval import Bm25

        self.texts = dedup(texts, normal)
        self.at = {normal(t): i for i, t in enumerate(self.texts)}
        self.vectors, self.bm25 = dense.vectors(f"pool_{name}", self.texts), Bm25(self.texts)

    def scores(self, query: str, vector):
        lexical = self.bm25.scores(query)
        return self.vectors @ vector + 0.35 * lexical / max(float(lexical.max()), 1e-6), lexical


def fit(text: str, wanted: str, tokenizer, limit: int, dice: random.Random) -> str:
    """The text, or five of its sentences around `wanted` (a random place when empty) when it is longer than `limit` pieces."""
    if len(text) < 2 * limit or len(tokenizer.encode(text).ids) <= limit:
        return text
    parts = [s for s in SENTENCE.split(text) if s.strip()]
    spots = [i for i, s in enumerate(parts) if wanted and wanted in s]
    middle = spots[0] if spots else dice.randrange(len(parts))
    start = max(0, min(middle - dice.randrange(WINDOW), len(parts) - WINDOW))
    if spots:
        start = max(start, middle - 2)
    return " ".join(parts[start : start + WINDOW])


def listing(pool: Pool, query: str, vector, positives: list[str], near: list[str], size: int, gold: float, cut, dice: random.Random) -> dict | None:
    """One candidate list: positives, given negatives and mined ones; `gold` is the share of the gold labels in the target."""
    score, lexical = pool.scores(query, vector)
    good = {pool.at[normal(p)] for p in positives if normal(p) in pool.at}
    if not good:
        return None
    chosen = dice.sample(sorted(good), min(2 if size > 4 else 1, len(good)))
    near_at = [pool.at[normal(n)] for n in near if normal(n) in pool.at and pool.at[normal(n)] not in good]
    dice.shuffle(near_at)
    order = [int(i) for i in (-score).argsort()[:30] if int(i) not in good]
    hard = order[:4] + dice.sample(order[4:], min(6, len(order[4:])))
    dice.shuffle(hard)
    negatives = dedup(near_at[: size // 3] + hard, lambda i: i)[: size - len(chosen)]
    picked = chosen + negatives
    return {"query": query, "passages": [cut(pool.texts[i], i in good) for i in picked], "gains": [1.0 if i in good else 0.0 for i in picked],
            "teacher": [float(score[i]) for i in picked], "gold": gold}


def relevance_lists(source: list[dict], data: Path, dense, tokenizer, dice: random.Random, limit: int = 150) -> list[dict]:
    """Candidate lists from RAGBench, question answering in several languages and passages asked for by their own words."""
    out: list[dict] = []
    for subset in SUBSETS:
        mine = [r for r in source if r["subset"] == subset]
        pool = Pool(subset, [d for r in mine for d in r["documents"]], dense)
        if subset in RANKED:
            asked = [r for r in dedup(mine, lambda r: normal(r["question"])) if not r["held"] and r["relevant"]]
            vectors = dense.vectors(f"asked_{subset}", [r["question"] for r in asked])
            for row, vector in zip(asked, vectors):
                told = [any(k in row["relevant"] for k, _ in doc) for doc in row["docs"]]
                marks = [s.strip() for doc in row["docs"] for k, s in doc if k in row["relevant"]]

                def cut(text: str, good: bool) -> str:
                    hit = next((m for m in marks if m in text), "") if good else ""
                    return fit(text, hit[:40], tokenizer, limit, dice)

                good = [d for d, t in zip(row["documents"], told) if t]
                item = listing(pool, row["question"], vector, good, [d for d, t in zip(row["documents"], told) if not t], 5, 0.75, cut, dice)
                out += [item | {"kind": subset}] if item else []
        out += cloze(pool, subset, 110, dense, tokenizer, dice, limit)
    names = ["xquad/en"] + OTHER_LANGUAGES
    english = {q["_id"]: q["text"] for q in collection(data, "xquad/en")[2]}
    for name in names:
        ids, texts, queries, qrels = collection(data, name)
        if name == "jaquad-ja" or name == "cmrc2018-zh":
            keep = set(dice.sample(range(len(ids)), 150))
            ids, texts = [d for i, d in enumerate(ids) if i in keep], [t for i, t in enumerate(texts) if i in keep]
        pool = Pool(name.replace("/", "_"), [t[:700] for t in texts], dense)
        at = {d: t[:700] for d, t in zip(ids, texts)}
        full = dict(zip(ids, texts))
        usable = [q for q in queries if not held_out(english.get(q["_id"], q["text"])) and any(d in at for d in qrels.get(q["_id"], {}))]
        asked = dice.sample(usable, min(len(usable), len(usable) if name == "xquad/en" else 22))
        vectors = dense.vectors(f"asked_{name.replace('/', '_')}", [q["text"] for q in asked])
        for query, vector in zip(asked, vectors):
            doc = next(d for d in qrels[query["_id"]] if d in at)
            answer = (query.get("metadata", {}).get("answers") or [""])[0]
            cut = lambda text, good: around(full[doc], answer) if good else text[:560]
            item = listing(pool, query["text"], vector, [at[doc]], [], 4, 0.75, cut, dice)
            out += [item | {"kind": name}] if item else []
        if name == "xquad/en":
            out += cloze(pool, "xquad_en", 120, dense, tokenizer, dice, limit)
    return out


def around(text: str, answer: str, width: int = 560) -> str:
    """`width` characters of the text with the answer inside."""
    spot = max(0, text.find(answer))
    start = max(0, min(spot - width // 2, len(text) - width))
    return text[start : start + width]


def cloze(pool: Pool, name: str, count: int, dense, tokenizer, dice: random.Random, limit: int) -> list[dict]:
    """Lists whose query is a passage's own title, sentence or key words, with that passage (less the sentence) as positive."""
    from retrieval import words

    asked = []
    for i in dice.sample(range(len(pool.texts)), len(pool.texts)):
        text = pool.texts[i]
        title = re.match(r"Title: (.+?)\nPassage: (.*)", text, re.S)
        parts = [s for s in SENTENCE.split(title.group(2) if title else text) if len(s) > 30]
        if len(parts) < 3 or len(asked) >= count:
            continue
        if title and dice.random() < 0.4:
            asked.append((i, title.group(1), title.group(2)))
            continue
        chosen = dice.choice(parts)
        rest = " ".join(p for p in parts if p is not chosen)
        if dice.random() < 0.5:
            keep = [w for w in re.findall(r"\w[\w'-]+", chosen) if words(w)]
            if len(keep) < 4:
                continue
            at = sorted(dice.sample(range(len(keep)), min(len(keep), dice.randint(4, 9))))
            chosen, rest = " ".join(keep[j] for j in at), text if dice.random() < 0.5 else rest
        asked.append((i, chosen[:300], rest))
    vectors = dense.vectors(f"cloze_{name}", [q for _, q, _ in asked])
    out = []
    for (i, query, rest), vector in zip(asked, vectors):
        cut = lambda text, good: fit(rest if good else text, "", tokenizer, limit, dice)
        item = listing(pool, query, vector, [pool.texts[i]], [], 4, 0.5, cut, dice)
        out += [item | {"kind": "cloze"}] if item else []
    return out


def build(data: Path, cache: Path, epoch: int) -> Path:
    """Write the lists and pairs of one epoch once; every epoch draws its negatives, cuts and near misses anew."""
    from retrieval import Dense

    path, seed = cache / f"train-{epoch}.jsonl", SEED + 10 * epoch
    if path.exists():
        return path
    cache.mkdir(parents=True, exist_ok=True)
    tokenizer, source = load_tokenizer(), rows(data)
    pairs = support_pairs([r for r in source if not r["held"]], random.Random(seed))
    pairs += answer_pairs(data, random.Random(seed + 2))
    lists = relevance_lists(source, data, Dense(tokenizer, cache), tokenizer, random.Random(seed + 1))
    partial = path.with_suffix(".part")
    with partial.open("w", encoding="utf-8") as out:
        for item in lists + pairs:
            out.write(json.dumps(item, ensure_ascii=False) + "\n")
    partial.rename(path)
    return path


if __name__ == "__main__":
    import argparse

    import torch

    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description="Build the training pairs")
    parser.add_argument("--data", type=Path, default=data_folder())
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--epoch", type=int, default=0)
    arguments = parser.parse_args()
    print(build(arguments.data, arguments.cache, arguments.epoch))
