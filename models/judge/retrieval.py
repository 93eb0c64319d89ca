"""First-stage retrieval for training negatives and for the evaluation: BM25, the embedder, reciprocal rank fusion, nDCG.

Formulas: BM25 k1 = 1.2, b = 0.75 with log(1 + (N - n + 0.5) / (n + 0.5)); RRF 1 / (60 + rank), rank from 1; nDCG@10 with
linear gain and log2 discount.
"""
from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import torch

from model import Judge, embed, load_embedder

WORD = re.compile(r"\w+")
STOP = set("a an and are as at be by for from has he in is it its of on that the to was were will with what which who how when where why does do did".split())


def words(text: str) -> list[str]:
    """Lower-cased words with a light plural and suffix cut, so that `wings` meets `wing`."""
    out = []
    for w in WORD.findall(text.lower()):
        if w in STOP:
            continue
        for end in ("ing", "ed", "es", "s"):
            if w.endswith(end) and len(w) - len(end) >= 3:
                w = w[: -len(end)]
                break
        out.append(w)
    return out


class Bm25:
    """An inverted index over a list of texts; `scores` gives one number per text."""

    def __init__(self, texts: list[str], k1: float = 1.2, b: float = 0.75):
        bags = [Counter(words(t)) for t in texts]
        self.size = len(texts)
        lengths = np.array([sum(bag.values()) for bag in bags], dtype=np.float32)
        norm = k1 * (1 - b + b * lengths / max(lengths.mean(), 1.0))
        posts = defaultdict(list)
        for i, bag in enumerate(bags):
            for w, n in bag.items():
                posts[w].append((i, n))
        self.posts = {}
        for w, found in posts.items():
            at = np.array([i for i, _ in found])
            n = np.array([n for _, n in found], dtype=np.float32)
            idf = math.log(1 + (self.size - len(found) + 0.5) / (len(found) + 0.5))
            self.posts[w] = (at, (idf * n * (k1 + 1) / (n + norm[at])).astype(np.float32))

    def scores(self, query: str) -> np.ndarray:
        total = np.zeros(self.size, dtype=np.float32)
        for w in words(query):
            if w in self.posts:
                at, value = self.posts[w]
                total[at] += value
        return total


class Dense:
    """Sentence vectors of the untouched embedder. Every text is embedded once; vectors are cached by the text's hash."""

    def __init__(self, tokenizer, cache: Path, max_tokens: int = 256):
        self.model, self.tokenizer, self.cache, self.max_tokens = None, tokenizer, cache, max_tokens
        self.known: dict[str, np.ndarray] = {}
        for path in sorted(cache.glob("dense-*.npz")):
            stored = np.load(path)
            self.known.update(zip(stored["keys"].tolist(), stored["vectors"]))

    def vectors(self, name: str, texts: list[str]) -> np.ndarray:
        keys = [hashlib.sha256(t.encode()).hexdigest()[:20] for t in texts]
        new = {k: t for k, t in zip(keys, texts) if k not in self.known}
        if new:
            found = self.embed(list(new.values()))
            self.known.update(zip(new, found))
            np.savez(self.cache / f"dense-{name}-{len(new)}.npz", keys=np.array(list(new)), vectors=found)
        return np.stack([self.known[k] for k in keys]) if keys else np.zeros((0, 384), dtype=np.float32)

    def embed(self, texts: list[str]) -> np.ndarray:
        if self.model is None:
            self.model = load_embedder(Judge(split=0)).eval().encoder
        encoded = [self.tokenizer.encode(t).ids for t in texts]
        encoded = [ids if len(ids) <= self.max_tokens else ids[: self.max_tokens - 1] + ids[-1:] for ids in encoded]
        order = sorted(range(len(texts)), key=lambda i: len(encoded[i]))
        out, at = np.zeros((len(texts), 384), dtype=np.float32), 0
        while at < len(order):
            width = len(encoded[order[min(at + 31, len(order) - 1)]])
            batch = order[at : at + max(1, min(32, 4096 // width))]
            at += len(batch)
            width = max(len(encoded[i]) for i in batch)
            ids = torch.zeros(len(batch), width, dtype=torch.long)
            for row, i in enumerate(batch):
                ids[row, : len(encoded[i])] = torch.tensor(encoded[i])
            with torch.no_grad():
                out[batch] = embed(self.model, ids, (ids > 0).long()).numpy()
        return out


def top(scores: np.ndarray, k: int) -> list[int]:
    """Indices of the k best scores, best first."""
    k = min(k, len(scores))
    part = np.argpartition(-scores, k - 1)[:k]
    return part[np.lexsort((part, -scores[part]))].tolist()


def fuse(rankings: list[list[int]], k: int = 60) -> list[tuple[int, float]]:
    """Reciprocal rank fusion: (index, score), best first."""
    total: dict[int, float] = defaultdict(float)
    for ranking in rankings:
        for rank, i in enumerate(ranking, 1):
            total[i] += 1.0 / (k + rank)
    return sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))


def ndcg(ranked: list, gains: dict, k: int = 10) -> float:
    """nDCG@k with linear gain."""
    got = sum(gains.get(d, 0) / math.log2(i + 2) for i, d in enumerate(ranked[:k]))
    best = sum(g / math.log2(i + 2) for i, g in enumerate(sorted(gains.values(), reverse=True)[:k]))
    return got / best if best > 0 else 0.0
