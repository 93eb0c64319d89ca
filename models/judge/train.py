"""Train the judge in one command; run again to resume from the last checkpoint.

    python train.py --work WORK_FOLDER [--data DATA_FOLDER] [--minutes 45]

One process per core, fp32, micro-batches of one task and of similar length. Relevance lists get a listwise cross-entropy whose target
mixes the gold labels with the softmax of the teacher's scores (embedder cosine plus BM25), plus binary cross-entropy so that
the logit can become a probability; support pairs get binary cross-entropy. The word, place and segment embeddings and the
lowest layers stay frozen, which keeps what the embedder knows about words that the training never shows. The learning rate
follows the share of the processor time or of the steps that is used up, whichever is further: a busy machine makes the
training longer, not worse.
"""
from __future__ import annotations

import argparse
import json
import os
import random
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import distributed

from data import SEED, build, data_folder, encode, load_tokenizer
from model import Judge, load_embedder

TEACHER_HEAT = 0.08


def collate(pairs: list[tuple[list[int], int]]):
    """Padded ids, mask and segments of encoded pairs."""
    width = max(len(ids) for ids, _ in pairs)
    ids, mask, segments = (torch.zeros(len(pairs), width, dtype=torch.long) for _ in range(3))
    for row, (pieces, first) in enumerate(pairs):
        ids[row, : len(pieces)] = torch.tensor(pieces)
        mask[row, : len(pieces)] = 1
        segments[row, first : len(pieces)] = 1
    return ids, mask, segments


def steps(paths: list[Path], limit: int, pairs_per_batch: int, processes: int) -> list[list[list[dict]]]:
    """Shuffled steps of one micro-batch a process; a micro-batch holds whole lists or support pairs of similar length, and
    those of a step cost about the same, so that no process waits for another."""
    tokenizer, dice = load_tokenizer(), random.Random(SEED)
    out = []
    for path in paths:
        items = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for item in items:
            passages = [(item["query"], p) for p in item["passages"]] if "passages" in item else [(item["first"], item["second"])]
            item["encoded"] = [encode(tokenizer, first, second, limit) for first, second in passages]
        epoch = []
        for group, step in (([i for i in items if "passages" in i], max(1, pairs_per_batch // 5)), ([i for i in items if "label" in i], pairs_per_batch)):
            dice.shuffle(group)
            for at in range(0, len(group), step * 20):
                part = sorted(group[at : at + step * 20], key=lambda i: max(len(e[0]) for e in i["encoded"]))
                epoch += [part[j : j + step] for j in range(0, len(part), step)]
        epoch.sort(key=lambda batch: sum(len(i["encoded"]) for i in batch) * max(len(e[0]) for i in batch for e in i["encoded"]))
        groups = [epoch[i : i + processes] for i in range(0, len(epoch) - processes + 1, processes)]
        dice.shuffle(groups)
        out += groups
    return out


def loss_of(judge: Judge, batch: list[dict], smooth: float = 0.03) -> tuple[torch.Tensor, str]:
    relevance, support = judge(*collate([e for item in batch for e in item["encoded"]]))
    if "label" in batch[0]:
        target = torch.tensor([item["label"] for item in batch])
        return F.binary_cross_entropy_with_logits(support, target.clamp(smooth, 1 - smooth)), "support"
    total, at = 0.0, 0
    for item in batch:
        logits = relevance[at : at + len(item["encoded"])]
        at += len(logits)
        gains, teacher = torch.tensor(item["gains"]), torch.softmax(torch.tensor(item["teacher"]) / TEACHER_HEAT, 0)
        target = item["gold"] * gains / gains.sum() + (1 - item["gold"]) * teacher
        total = total - (target * F.log_softmax(logits, 0)).sum()
        total = total + 0.5 * F.binary_cross_entropy_with_logits(logits, gains.clamp(smooth, 1 - smooth))
    return total / len(batch), "relevance"


def freeze(judge: Judge, layers: int) -> None:
    encoder = judge.encoder
    for part in [encoder.words, encoder.places, encoder.types, encoder.norm, *list(encoder.layers)[:layers]]:
        part.requires_grad_(False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, required=True, help="cache and checkpoints")
    parser.add_argument("--data", type=Path, default=data_folder())
    parser.add_argument("--minutes", type=float, default=90, help="of processor time, per process")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--limit", type=int, default=176, help="word pieces of a pair")
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--split", type=int, default=2)
    parser.add_argument("--frozen", type=int, default=2)
    parser.add_argument("--rate", type=float, default=8e-5)
    parser.add_argument("--processes", type=int, default=2, help="one per core; every one works on its own micro-batch of a step")
    parser.add_argument("--start", type=Path, help="checkpoint whose weights to begin with; heads that had fewer inputs are widened with zeros")
    parser.add_argument("--skip", type=int, default=0, help="epochs that the start has seen")
    parser.add_argument("--name", default="judge")
    a = parser.parse_args()
    torch.set_num_threads(1)
    for epoch in range(a.skip, a.epochs):
        build(a.data, a.work, epoch)
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1"), os.environ.setdefault("MASTER_PORT", "29577")
    torch.multiprocessing.spawn(train, (a,), nprocs=a.processes)


def train(rank: int, a: argparse.Namespace) -> None:
    """One of the processes: gradients are averaged over all of them after every micro-batch; the first one keeps the checkpoint."""
    torch.set_num_threads(1), torch.manual_seed(SEED + rank)
    distributed.init_process_group("gloo", rank=rank, world_size=a.processes)
    plan = steps([build(a.data, a.work, epoch) for epoch in range(a.skip, a.epochs)], a.limit, a.batch, a.processes)
    judge = load_embedder(Judge(split=a.split))
    freeze(judge, a.frozen)
    encoder = [p for p in judge.encoder.parameters() if p.requires_grad]
    heads = [p for n, p in judge.named_parameters() if not n.startswith("encoder.") and not n.endswith("scale")]
    scales = [p for n, p in judge.named_parameters() if n.endswith("scale")]
    optimizer = torch.optim.AdamW([{"params": encoder, "top": a.rate}, {"params": heads, "top": 6 * a.rate}, {"params": scales, "top": 100 * a.rate}],
                                  weight_decay=0.01)
    trained = [p for g in optimizer.param_groups for p in g["params"]]
    saved, step, spent = a.work / f"{a.name}.pt", 0, 0.0
    if a.start and not saved.exists():
        adopt(judge, torch.load(a.start, weights_only=True)["judge"])
    if saved.exists():
        state = torch.load(saved, weights_only=True)
        judge.load_state_dict(state["judge"]), optimizer.load_state_dict(state["optimizer"])
        step, spent = state["step"], state["spent"]
    if rank == 0:
        print(f"{len(plan)} steps, from {step}, {spent / 60:.1f} minutes spent", flush=True)
    judge.train()
    last, kept, means = time.process_time(), time.time(), {"relevance": 1.4, "support": 0.6}
    while step < len(plan) and spent < a.minutes * 60:
        done = max(step / len(plan), spent / (a.minutes * 60))
        for group in optimizer.param_groups:
            group["lr"] = group["top"] * min(1.0, (step + 1) / 60) * max(0.03, 1 - done)
        loss, task = loss_of(judge, plan[step][rank])
        optimizer.zero_grad(), loss.backward()
        means[task] += 0.03 * (loss.item() - means[task])
        step, now = step + 1, time.process_time()
        clock = share(trained, now - last)
        spent, last = spent + clock, now
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        if rank:
            continue
        if step % 20 == 0:
            print(f"{step}/{len(plan)} {spent / 60:.1f} min relevance {means['relevance']:.3f} support {means['support']:.3f}", flush=True)
        if time.time() - kept > 240:
            keep(saved, judge, optimizer, step, spent)
            kept = time.time()
    if rank == 0:
        keep(saved, judge, optimizer, step, spent)
    distributed.destroy_process_group()


def adopt(judge: Judge, known: dict) -> None:
    """Take over the weights of a checkpoint; what it lacks stays as it is, a longer vector or wider matrix gets them in front."""
    own = judge.state_dict()
    for name, value in known.items():
        spot = own[name][: len(value)] if value.dim() == 1 else own[name][:, : value.shape[1]] if value.dim() == 2 else own[name]
        if spot.shape != own[name].shape:
            own[name].zero_()
        spot.copy_(value)
    judge.load_state_dict(own)


def share(parameters: list, seconds: float) -> float:
    """Average the gradients over the processes; gives back the mean of `seconds`, so that all agree when time is up."""
    count = distributed.get_world_size()
    flat = torch.cat([(p.grad if p.grad is not None else torch.zeros_like(p)).flatten() for p in parameters] + [torch.tensor([seconds])])
    distributed.all_reduce(flat)
    flat /= count
    at = 0
    for p in parameters:
        p.grad = flat[at : at + p.numel()].view_as(p)
        at += p.numel()
    return float(flat[-1])


def keep(path: Path, judge: Judge, optimizer, step: int, spent: float) -> None:
    """Write the checkpoint beside the old one, then replace it."""
    torch.save({"judge": judge.state_dict(), "optimizer": optimizer.state_dict(), "step": step, "spent": spent}, path.with_suffix(".tmp"))
    path.with_suffix(".tmp").rename(path)


if __name__ == "__main__":
    main()
