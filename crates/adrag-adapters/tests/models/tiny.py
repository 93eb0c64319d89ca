"""Random models of a few kilobytes in the shapes that cross-encoders come in; the tests read them from `tiny/`.

    python tiny.py        needs numpy and onnx
"""
from pathlib import Path

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

WORDS, WIDTH = 64, 8


def build(name: str, outputs: dict[str, int], types: bool) -> None:
    """Mean of hashed token vectors, then one matrix an output. An output of 0 classes has the shape [batch]."""
    dice = np.random.default_rng(7)
    inputs = ["input_ids", "attention_mask"] + ["token_type_ids"] * types
    tensors = {"table": dice.normal(size=(WORDS, WIDTH)).astype(np.float32), "words": np.array(WORDS, dtype=np.int64),
               "last": np.array([2], dtype=np.int64), "middle": np.array([1], dtype=np.int64)}
    nodes = [helper.make_node("Mod", ["input_ids", "words"], ["hashed"]),
             helper.make_node("Gather", ["table", "hashed"], ["states"], axis=0),
             helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
             helper.make_node("Unsqueeze", ["mask", "last"], ["wide"]),
             helper.make_node("Mul", ["states", "wide"], ["kept"]),
             helper.make_node("ReduceSum", ["kept", "middle"], ["sum"], keepdims=0),
             helper.make_node("ReduceSum", ["mask", "middle"], ["count"], keepdims=1),
             helper.make_node("Div", ["sum", "count"], ["mean"])]
    for output, classes in outputs.items():
        tensors[f"{output}_matrix"] = dice.normal(size=(WIDTH, classes or 1)).astype(np.float32)
        target = output if classes else f"{output}_column"
        nodes.append(helper.make_node("MatMul", ["mean", f"{output}_matrix"], [target]))
        if not classes:
            nodes.append(helper.make_node("Squeeze", [target, "middle"], [output]))
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info(i, TensorProto.INT64, ["batch", "tokens"]) for i in inputs],
        [helper.make_tensor_value_info(o, TensorProto.FLOAT, ["batch", c] if c else ["batch"]) for o, c in outputs.items()],
        [numpy_helper.from_array(v, k) for k, v in tensors.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    checker.check_model(model)
    save(model, Path(__file__).parent / "tiny" / f"{name}.onnx")


if __name__ == "__main__":
    build("two_heads", {"relevance": 0, "support": 0}, types=True)
    build("one_logit", {"logits": 1}, types=True)
    build("three_classes", {"logits": 3}, types=False)
