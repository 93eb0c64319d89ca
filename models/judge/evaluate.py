"""Measure the judge: `select` on held-out validation questions writes judge.toml, `final` on the measuring sets prints RESULTS.

    python evaluate.py select --work WORK_FOLDER [--data DATA_FOLDER]
    python evaluate.py final  --work WORK_FOLDER [--data DATA_FOLDER] [--model FILE]
    python evaluate.py speed  --work WORK_FOLDER [--model FILE]

Reranking: the top 30 of RRF(BM25, embedder) in the order of the fused list, of the judge alone and of the blend; nDCG@10 with
paired bootstrap intervals over seeded query samples. Support: AUROC of hallucinated answers, an answer's score folded from its
sentences, a sentence's score the best of its five-sentence windows (the four windows that share most words are read).
Abstention: the same held-out questions with their documents in the list and without them. `select` never sees a measuring set;
`final` chooses nothing.
"""
from __future__ import annotations

import argparse
import hashlib
import random
import re
import tomllib
from pathlib import Path

import numpy as np

from data import RANKED, SEED, SENTENCE, SUBSETS, clean, collection, data_folder, encode, held_out, jsonl, load_tokenizer, overlap, rows, windows
from retrieval import Bm25, Dense, fuse, ndcg, top

HERE = Path(__file__).resolve().parent
DEPTH, LIMIT = 30, 256
TRANSFER = ["expertqa", "emanual", "delucionqa"]
BASELINES = ["gpt3_adherence", "ragas_faithfulness", "trulens_groundedness"]


class Scorer:
    """Both logits of (first, second) pairs from an ONNX file, one thread, length-sorted batches; cached by the file's hash."""

    def __init__(self, model: Path, work: Path, tokenizer, command: str = "select"):
        import onnxruntime as runtime

        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.session = runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self.tokenizer = tokenizer
        self.path = work / f"scores-{command}-{hashlib.sha256(model.read_bytes()).hexdigest()[:12]}.npz"
        self.known: dict[str, np.ndarray] = {}
        if self.path.exists():
            stored = np.load(self.path)
            self.known = dict(zip(stored["keys"].tolist(), stored["logits"]))

    def __call__(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        keys = [hashlib.sha256(f"{LIMIT}\0{a}\0{b}".encode()).hexdigest()[:20] for a, b in pairs]
        new = {k: encode(self.tokenizer, a, b, LIMIT, 96) for k, (a, b) in zip(keys, pairs) if k not in self.known}
        order = sorted(new, key=lambda k: len(new[k][0]))
        for at in range(0, len(order), 4):
            batch = order[at : at + 4]
            width = max(len(new[k][0]) for k in batch)
            ids, mask, segments = (np.zeros((len(batch), width), dtype=np.int64) for _ in range(3))
            for row, k in enumerate(batch):
                pieces, first = new[k]
                ids[row, : len(pieces)], mask[row, : len(pieces)], segments[row, first : len(pieces)] = pieces, 1, 1
            found = self.session.run(None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": segments})
            self.known.update(zip(batch, np.stack(found, axis=1)))
            if at % 800 == 796 or at + 4 >= len(order):
                np.savez(self.path, keys=np.array(list(self.known)), logits=np.stack(list(self.known.values())))
        return np.stack([self.known[k] for k in keys])


# ---------------------------------------------------------------- ranking


def candidate_lists(data: Path, name: str, dense: Dense, wanted, count: int) -> list[dict]:
    """Seeded sample of queries with the top 30 of the fused list: texts, normalised RRF scores and the gains."""
    ids, texts, queries, qrels = collection(data, name)
    queries = [q for q in queries if q["_id"] in qrels and wanted(q)]
    queries = random.Random(SEED).sample(queries, min(count, len(queries)))
    slug = name.replace("/", "_")
    vectors, asked, bm25 = dense.vectors(slug, texts), dense.vectors(f"q_{slug}_{len(queries)}", [q["text"] for q in queries]), Bm25(texts)
    out = []
    for query, vector in zip(queries, asked):
        lexical, semantic = top(bm25.scores(query["text"]), 100), top(vectors @ vector, 100)
        fused = fuse([lexical, semantic])
        best = fused[0][1]
        out.append({"query": query["text"], "ids": [ids[i] for i, _ in fused], "texts": [texts[i] for i, _ in fused[:DEPTH]],
                    "rrf": np.array([s / best for _, s in fused[:DEPTH]]), "gains": qrels[query["_id"]]})
    return out


def reranked(item: dict, scores: np.ndarray) -> float:
    order = np.lexsort((np.arange(len(scores)), -scores))
    return ndcg([item["ids"][i] for i in order] + item["ids"][DEPTH:], item["gains"])


def blended(rrf: np.ndarray, probability: np.ndarray, weight: float) -> np.ndarray:
    """(1 - weight) x share of the best RRF score + weight x probability of relevance."""
    return (1 - weight) * rrf + weight * probability


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def bootstrap(difference: np.ndarray, times: int = 4000) -> tuple[float, float]:
    """95 % interval of the mean by resampling."""
    dice = np.random.default_rng(SEED)
    means = difference[dice.integers(0, len(difference), (times, len(difference)))].mean(1)
    return float(np.percentile(means, 2.5)), float(np.percentile(means, 97.5))


# ---------------------------------------------------------------- support


def sentence_pairs(row: dict, form: str, most: int = 4) -> list[list[tuple[str, str]]]:
    """For every answer sentence the pairs with its best windows."""
    parts = [text for doc in row["docs"] if doc for _, text in windows(doc)]
    out = []
    for _, claim in row["sentences"]:
        best = sorted(parts, key=lambda w: -overlap(claim, w))[:most]
        first = f"{row['question']} {claim}" if form == "question" else claim
        out.append([(first, w) for w in best])
    return out


def sentence_scores(source: list[dict], scorer: Scorer, form: str) -> list[np.ndarray]:
    """Per row the support logit of each sentence (best window)."""
    grouped = [sentence_pairs(row, form) for row in source]
    scorer([p for row in grouped for s in row for p in s])
    return [np.array([scorer(s)[:, 1].max() for s in row]) if row else np.zeros(1) for row in grouped]


FOLDS = {
    "min": lambda p: p.min(),
    "mean": lambda p: p.mean(),
    "min_mean": lambda p: 0.5 * p.min() + 0.5 * p.mean(),
    "product": lambda p: p.prod(),
}


def auroc(bad: np.ndarray, risk: np.ndarray) -> float:
    """Chance that a bad row has more risk than a good one; ties count half; NaN rows are left out."""
    keep = ~np.isnan(risk)
    bad, risk = bad[keep], risk[keep]
    above = risk[bad][:, None] - risk[~bad][None, :]
    return float(((above > 0) + 0.5 * (above == 0)).mean()) if bad.any() and (~bad).any() else float("nan")


def platt(logits: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Slope and bias of the calibrated probability."""
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(C=1e4).fit(logits[:, None], labels)
    return float(fitted.coef_[0, 0]), float(fitted.intercept_[0])


def calibration_error(p: np.ndarray, y: np.ndarray, bins: int = 10) -> float:
    at = np.minimum((p * bins).astype(int), bins - 1)
    return float(sum(abs(p[at == b].mean() - y[at == b].mean()) * (at == b).mean() for b in range(bins) if (at == b).any()))


# ---------------------------------------------------------------- the two commands


def select(a, scorer: Scorer, dense: Dense) -> None:
    """Calibration, blend and answer score from held-out validation questions, written to the manifest."""
    sets = {}
    for name in RANKED + TRANSFER:
        wanted = lambda q: "-validation-" in q["_id"] and (name in TRANSFER or held_out(q["text"]))
        sets[name] = candidate_lists(a.data, f"ragbench-derived/{name}", dense, wanted, a.queries)
    items = [i for s in sets.values() for i in s]
    for item in items:
        item["logits"] = scorer([(item["query"], t) for t in item["texts"]])[:, 0]
    # Unjudged passages of other questions count as negatives, as they do in the measure.
    logits = np.concatenate([i["logits"] for i in items])
    labels = np.concatenate([[d in i["gains"] for d in i["ids"][:DEPTH]] for i in items])
    slope, bias = platt(logits, labels)
    print(f"relevance: slope {slope:.4f} bias {bias:.4f} calibration error {calibration_error(sigmoid(slope * logits + bias), labels):.3f}")
    tries = []
    for item in items:
        item["p"] = sigmoid(slope * item["logits"] + bias)
    for weight in np.arange(0, 1.01, 0.05):
        gain = {n: np.mean([reranked(i, blended(i["rrf"], i["p"], weight)) - reranked(i, i["rrf"]) for i in s]) for n, s in sets.items()}
        # Half of the vote to collections that were trained on, half to those that were not.
        home, away = np.mean([gain[n] for n in RANKED]), np.mean([gain[n] for n in TRANSFER])
        tries.append((0.5 * home + 0.5 * away, round(float(weight), 2)))
        print(f"blend weight {weight:.2f}: mean {tries[-1][0]:+.4f} home {home:+.4f} transfer {away:+.4f}", {n: round(float(g), 3) for n, g in gain.items()})
    # Of the blends within 0.002 of the best, the one that trusts the judge least.
    weight = min(w for g, w in tries if g >= max(tries)[0] - 0.002)

    held = [r for r in rows(a.data) if r["held"] and r["sentences"]]
    bad = np.array([bool(r["unsupported"]) for r in held])
    subset = np.array([r["subset"] for r in held])
    best = None
    for form in a.forms.split(","):
        scores = sentence_scores(held, scorer, form)
        flat = np.concatenate(scores)
        good = np.concatenate([[k not in r["unsupported"] for k, _ in r["sentences"]] for r in held])
        print(f"support, {form}: sentence AUROC {auroc(~good, -flat):.3f} over {len(flat)} sentences, {int((~good).sum())} unsupported")
        calibration = platt(flat, good)
        for fold, function in FOLDS.items():
            risk = -np.array([function(sigmoid(calibration[0] * s + calibration[1])) for s in scores])
            per = {n: auroc(bad[subset == n], risk[subset == n]) for n in SUBSETS}
            value = 0.5 * auroc(bad, risk) + 0.5 * float(np.nanmean(list(per.values())))
            print(f"  {fold}: pooled {auroc(bad, risk):.3f} mean of subsets {np.nanmean(list(per.values())):.3f}", {n: round(v, 2) for n, v in per.items()})
            if best is None or value > best[0]:
                best = (value, form, fold, calibration, calibration_error(sigmoid(calibration[0] * flat + calibration[1]), good))
    _, form, fold, calibration, error = best
    asked = candidate_lists(a.data, "xquad/en", dense, lambda q: held_out(q["text"]), 2 * a.queries)
    for item in asked:
        item["p"] = sigmoid(slope * scorer([(item["query"], t) for t in item["texts"]])[:, 0] + bias)
    abstention = abstain(items + asked, weight, lambda pairs: sigmoid(calibration[0] * scorer(pairs)[:, 1] + calibration[1]))
    print(f"chosen: {form}, {fold}; support calibration error {error:.3f}")
    size = a.model.stat().st_size
    (HERE / "judge.toml").write_text(f'''# Manifest of judge.onnx. Probabilities: sigmoid(slope * logit + bias). Written by `evaluate.py select`.
name = "adrag-judge"
version = "{a.version}"
file = "judge.onnx"
sha256 = "{hashlib.sha256(a.model.read_bytes()).hexdigest()}"
bytes = {size}
licence = "Apache-2.0 code and start weights; see DATA_CARD.md for the data"
inputs = ["input_ids", "attention_mask", "token_type_ids"]
outputs = ["relevance", "support"]
max_tokens = {LIMIT}
first_max_tokens = 96
lowercase = true

[relevance]
first = "question"
second = "passage"
slope = {slope:.6f}
bias = {bias:.6f}

[support]
# first: "claim" is the sentence alone, "question" is the question, one space and the sentence.
first = "{form}"
second = "window of five sentences"
slope = {calibration[0]:.6f}
bias = {calibration[1]:.6f}
fold = "{fold}"

[blend]
# score = (1 - weight) * fused / best fused + weight * probability of relevance
weight = {weight}

[abstention]
# Probability that the documents answer: sigmoid(bias + sum of weight * sign). The signs: crates/adrag-core/src/answer/abstain.rs
{abstention}''')


SIGNS = ["top", "margin", "coverage", "focus", "support"]
KEPT, UNANSWERABLE = 6, 0.25
STOP = set((HERE.parents[1] / "crates/adrag-core/src/answer/stop_words.txt").read_text().split())
SUBJECT = re.compile(r"[\w-]+")


def subject_words(text: str) -> set[str]:
    """The same words, and the same rough stems, as `subject_words` of the program."""
    out = set()
    for word in SUBJECT.findall(text):
        word = word.strip("-_").lower()
        if not word or word in STOP:
            continue
        if word.isascii() and not any(c.isdigit() for c in word):
            for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s", "y", "e"):
                if word.endswith(ending) and len(word) - len(ending) >= 3:
                    word = word[: -len(ending)]
                    break
        out.add(word)
    return out


def covered(asked: set[str], text: str) -> float:
    return len(asked & subject_words(text)) / len(asked) if asked else 0.0


def evidence(question: str, texts: list[str], p: np.ndarray, rrf: np.ndarray, weight: float, support) -> list[float]:
    """The five signs of one question over its candidates."""
    kept = np.argsort(-blended(rrf / rrf.max(), p, weight), kind="stable")[:KEPT]
    scores, asked = np.sort(p[kept])[::-1], subject_words(question)
    best = texts[kept[int(p[kept].argmax())]]
    parts = [s for s in SENTENCE.split(best) if s.strip()] or [best]
    around = [" ".join(parts[i : i + 5]) for i in range(0, max(1, len(parts) - 3), 2)]
    nearest = lambda options: max(options, key=lambda o: covered(asked, o))
    return [scores[0], scores[0] - (scores[1:].mean() if len(scores) > 1 else 0.0), covered(asked, " ".join(texts[i] for i in kept)),
            max(covered(asked, texts[i]) for i in kept), float(support([(f"{question} {nearest(parts)}", nearest(around))])[0])]


def abstain(items: list[dict], weight: float, support) -> str:
    """Logistic regression of "its document is there" over the signs; one question in four is taken to have no answer."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    signs, there = [], []
    for item in items:
        gold = np.array([d in item["gains"] for d in item["ids"][:DEPTH]])
        if not gold.any() or gold.all():
            continue
        for keep, label in ((np.ones(len(gold), dtype=bool), True), (~gold, False)):
            texts = [t for t, k in zip(item["texts"], keep) if k]
            signs.append(evidence(item["query"], texts, item["p"][keep], item["rrf"][keep], weight, support)), there.append(label)
    signs, there = np.array(signs), np.array(there)
    weights = np.where(there, 1 - UNANSWERABLE, UNANSWERABLE)
    model = LogisticRegression(C=1.0)
    guess = cross_val_predict(model, signs, there, cv=5, params={"sample_weight": weights}, method="predict_proba")[:, 1]
    print(f"abstention: {len(there)} cases, AUROC {auroc(there, guess):.3f}; alone:",
          {n: round(auroc(there, signs[:, i]), 3) for i, n in enumerate(SIGNS)})
    for below in (0.3, 0.4, 0.5, 0.6):
        said = guess < below
        print(f"  below {below}: {said[~there].mean():.2f} of those without, {said[there].mean():.2f} of those with their document")
    model.fit(signs, there, sample_weight=weights)
    return f"bias = {model.intercept_[0]:.4f}\n" + "".join(f"{n} = {w:.4f}\n" for n, w in zip(SIGNS, model.coef_[0]))


def final(a, scorer: Scorer, dense: Dense) -> None:
    """Tables for RESULTS.md."""
    manifest = tomllib.loads((HERE / "judge.toml").read_text())
    blend, relevance = manifest["blend"], manifest["relevance"]
    print("| collection | queries | RRF | judge alone | blend | blend - RRF | 95 % interval |\n|---|---|---|---|---|---|---|")
    sets = [("cranfield", a.queries), ("cisi", a.queries)] + [(f"ragbench-derived/{n}", a.queries) for n in RANKED] + [("npl-vaswani", a.queries)]
    for name, count in sets:
        if name in a.skip.split(","):
            continue
        items = candidate_lists(a.data, name, dense, lambda q: "ragbench" not in name or "-test-" in q["_id"], count)
        table = []
        for item in items:
            logits = scorer([(item["query"], t) for t in item["texts"]])[:, 0]
            table.append([reranked(item, item["rrf"]), reranked(item, logits), reranked(item, blended(item["rrf"], sigmoid(relevance["slope"] * logits + relevance["bias"]), blend["weight"]))])
        table = np.array(table)
        low, high = bootstrap(table[:, 2] - table[:, 0])
        mean = table.mean(0)
        print(f"| {name} | {len(items)} | {mean[0]:.3f} | {mean[1]:.3f} | {mean[2]:.3f} | {mean[2] - mean[0]:+.3f} | [{low:+.3f}, {high:+.3f}] |", flush=True)
    support = manifest["support"]
    source = [clean(r, r["subset"]) | {b: r[b] for b in BASELINES} for r in jsonl(a.data / "ragbench" / "sample-open.jsonl")]
    source = [r for r in source if r["sentences"]]
    scores = sentence_scores(source, scorer, support["first"])
    risk = -np.array([FOLDS[support["fold"]](sigmoid(support["slope"] * s + support["bias"])) for s in scores])
    bad, subset = np.array([bool(r["unsupported"]) for r in source]), np.array([r["subset"] for r in source])
    risks = {"judge": risk} | {b: -np.array([np.nan if r[b] is None else r[b] for r in source], dtype=float) for b in BASELINES}
    names, dice = list(risks), np.random.default_rng(SEED)
    print("\n| subset | rows (hallucinated) | " + " | ".join(names) + " |\n" + "|---" * (len(names) + 2) + "|")
    means = {n: [] for n in names}
    draws = {n: [] for n in names}
    for name in SUBSETS:
        at = np.flatnonzero(subset == name)
        cells = []
        samples = [dice.choice(at, len(at)) for _ in range(1000)]
        for n in names:
            value = auroc(bad[at], risks[n][at])
            drawn = np.array([auroc(bad[s], risks[n][s]) for s in samples])
            draws[n].append(drawn), means[n].append(value)
            cells.append(f"{value:.3f} [{np.nanpercentile(drawn, 2.5):.2f}, {np.nanpercentile(drawn, 97.5):.2f}]")
        print(f"| {name} | {len(at)} ({int(bad[at].sum())}) | " + " | ".join(cells) + " |")
    spread = {n: np.nanpercentile(np.nanmean(np.stack(draws[n]), axis=0), [2.5, 97.5]) for n in names}
    print("| mean | | " + " | ".join(f"{np.mean(means[n]):.3f} [{spread[n][0]:.2f}, {spread[n][1]:.2f}]" for n in names) + " |")


def speed(a, tokenizer) -> None:
    """Milliseconds of 30 pairs on one thread (median of 15), and the memory of the process that holds nothing but the model."""
    import resource
    import time

    import onnxruntime as runtime

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(str(a.model), options, providers=["CPUExecutionProvider"])
    word = "the seal kit of the bilge pump is kept in bin four of the second warehouse and fits every pump of the series "
    ids = np.array([encode(tokenizer, "in which bin is the seal kit of the pump kept?", word * 12, 160, 96)[0]] * 6, dtype=np.int64)
    feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": (np.arange(ids.shape[1]) > 13) * np.ones_like(ids)}
    times = []
    for _ in range(15):
        start = time.perf_counter()
        for _ in range(5):
            session.run(None, feed)
        times.append(1000 * (time.perf_counter() - start))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{a.model.name}: {a.model.stat().st_size / 1e6:.1f} MB, 30 pairs of {ids.shape[1]} pieces {np.median(times):.0f} ms, {(after - before) / 1024:.0f} MB of memory")


def main() -> None:
    import torch

    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["select", "final", "speed"])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=data_folder())
    parser.add_argument("--model", type=Path, default=HERE / "judge.onnx")
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--forms", default="claim,question", help="forms of the claim that select compares")
    parser.add_argument("--skip", default="", help="collections that final leaves out")
    parser.add_argument("--version", default="1.0.0")
    a = parser.parse_args()
    tokenizer = load_tokenizer()
    if a.command == "speed":
        return speed(a, tokenizer)
    {"select": select, "final": final}[a.command](a, Scorer(a.model, a.work, tokenizer, a.command), Dense(tokenizer, a.work))


if __name__ == "__main__":
    main()
