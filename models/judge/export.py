"""Export a checkpoint to ONNX with the named outputs `relevance` and `support`, in fp32 (for measuring) and in int8.

    python export.py --work WORK_FOLDER [--name judge] [--scheme weights|dynamic]

`weights` stores every matrix in int8 with one scale per output column (embeddings: one per row) and computes in fp32 through
DequantizeLinear. `dynamic` also quantises the activations of the matrix products at run time (integer arithmetic).
"""
from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from model import Judge

INPUTS, OUTPUTS = ["input_ids", "attention_mask", "token_type_ids"], ["relevance", "support"]


def to_onnx(judge: Judge, path: Path) -> None:
    ids = torch.randint(1000, 2000, (2, 12))
    segments = torch.zeros_like(ids)
    segments[:, 5:] = 1
    axes = {name: {0: "batch", 1: "sequence"} for name in INPUTS} | {name: {0: "batch"} for name in OUTPUTS}
    torch.onnx.export(judge.eval(), (ids, torch.ones_like(ids), segments), str(path), input_names=INPUTS, output_names=OUTPUTS,
                      dynamic_axes=axes, opset_version=17, dynamo=False, do_constant_folding=True)


def quantise(matrix: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Symmetric int8 with one scale per index of `axis`."""
    other = 1 - axis
    scale = np.maximum(np.abs(matrix).max(axis=other), 1e-8) / 127.0
    shaped = scale[:, None] if axis == 0 else scale[None, :]
    return np.clip(np.rint(matrix / shaped), -127, 127).astype(np.int8), scale.astype(np.float32)


def store_int8(source: Path, target: Path, matrices: bool) -> None:
    """Large embedding tables and, when asked, matrices of MatMul and Gemm become int8 initializers with their scales."""
    model = onnx.load(source)
    graph = model.graph
    tensors = {t.name: t for t in graph.initializer}
    added, dropped, done = [], set(), set()
    for node in list(graph.node):
        if node.op_type == "Gather" and node.input[0] in tensors and tensors[node.input[0]].dims[-1:] == [384]:
            name = node.input[0]
            table = numpy_helper.to_array(tensors[name])
            if table.ndim != 2 or len(table) < 100:
                continue
            small, scale = quantise(table, 0)
            added += [numpy_helper.from_array(small, name + "_int8"), numpy_helper.from_array(scale[:, None], name + "_scale")]
            dropped.add(name)
            out, at = node.output[0], list(graph.node).index(node)
            nodes = [helper.make_node("Gather", [name + "_int8", node.input[1]], [out + "_int8"], axis=0),
                     helper.make_node("Gather", [name + "_scale", node.input[1]], [out + "_scale"], axis=0),
                     helper.make_node("Cast", [out + "_int8"], [out + "_float"], to=TensorProto.FLOAT),
                     helper.make_node("Mul", [out + "_float", out + "_scale"], [out])]
            graph.node.remove(node)
            for offset, new in enumerate(nodes):
                graph.node.insert(at + offset, new)
        elif matrices and node.op_type in ("MatMul", "Gemm") and node.input[1] in tensors:
            name = node.input[1]
            matrix = numpy_helper.to_array(tensors[name])
            if matrix.ndim != 2 or matrix.size < 4096:
                continue
            if name not in done:
                flipped = node.op_type == "Gemm" and any(a.name == "transB" and a.i for a in node.attribute)
                axis = 0 if flipped else 1
                small, scale = quantise(matrix, axis)
                added += [numpy_helper.from_array(small, name + "_int8"), numpy_helper.from_array(scale, name + "_scale")]
                dropped.add(name), done.add(name)
                graph.node.insert(0, helper.make_node("DequantizeLinear", [name + "_int8", name + "_scale"], [name], axis=axis))
    kept = [t for t in graph.initializer if t.name not in dropped] + added
    del graph.initializer[:]
    graph.initializer.extend(kept)
    onnx.checker.check_model(model)
    onnx.save(model, target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--name", default="judge")
    parser.add_argument("--split", type=int, default=2)
    parser.add_argument("--scheme", choices=["weights", "dynamic"], default="weights")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "judge.onnx")
    a = parser.parse_args()
    judge = Judge(split=a.split)
    judge.load_state_dict(torch.load(a.work / f"{a.name}.pt", weights_only=True)["judge"])
    full = a.work / f"{a.name}-fp32.onnx"
    to_onnx(judge, full)
    if a.scheme == "dynamic":
        from onnxruntime.quantization import QuantType, quantize_dynamic

        half = a.work / f"{a.name}-half.onnx"
        quantize_dynamic(full, half, op_types_to_quantize=["MatMul"], per_channel=True, weight_type=QuantType.QInt8)
        store_int8(half, a.out, matrices=True)
    else:
        store_int8(full, a.out, matrices=True)
    print(a.out, a.out.stat().st_size)


if __name__ == "__main__":
    main()
