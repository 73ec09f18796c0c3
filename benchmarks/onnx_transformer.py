"""Write a small transformer as an ONNX file, for the page of OneFlow SBP.

No study writes a file to be imported.

python benchmarks/onnx_transformer.py transformer.onnx
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save


class Writer:
    """Nodes and weights of a network under construction."""

    def __init__(self) -> None:
        self.nodes = []
        self.weights = []

    def weight(self, name: str, *shape: int) -> str:
        """Add a weight; its values do not matter here."""
        self.weights.append(numpy_helper.from_array(np.zeros(shape, np.float32), name))
        return name

    def constant(self, name: str, values: list[int] | float) -> str:
        """Add a number, or the extents of a shape."""
        kind = np.float32 if isinstance(values, float) else np.int64
        self.weights.append(numpy_helper.from_array(np.array(values, kind), name))
        return name

    def node(self, kind: str, name: str, *inputs: str, **attributes: object) -> str:
        """Add a node, named as its output."""
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name


def transformer(
    layers: int = 2, width: int = 64, heads: int = 4, sequence: int = 32, words: int = 512
):
    """Return a model whose batch is open: embedding, blocks, classifier, softmax."""
    w = Writer()
    head = width // heads
    w.constant("split", [0, 0, heads, head])
    w.constant("join", [0, 0, width])
    w.constant("root", float(head) ** 0.5)
    tensor = w.node("Gather", "embedded", w.weight("table", words, width), "ids")
    for k in range(layers):
        normal = w.node(
            "LayerNormalization",
            f"normal_a{k}",
            tensor,
            w.weight(f"gain_a{k}", width),
            w.weight(f"shift_a{k}", width),
        )
        parts = {}
        for letter in "qkv":
            flat = w.node(
                "MatMul", f"{letter}_flat{k}", normal, w.weight(f"w_{letter}{k}", width, width)
            )
            by_head = w.node("Reshape", f"{letter}_heads{k}", flat, "split")
            axes = [0, 2, 3, 1] if letter == "k" else [0, 2, 1, 3]
            parts[letter] = w.node("Transpose", f"{letter}{k}", by_head, perm=axes)
        scores = w.node("MatMul", f"scores{k}", parts["q"], parts["k"])
        scaled = w.node("Div", f"scaled{k}", scores, "root")
        context = w.node(
            "MatMul", f"context{k}", w.node("Softmax", f"softmax{k}", scaled, axis=-1), parts["v"]
        )
        turned = w.node("Transpose", f"turned{k}", context, perm=[0, 2, 1, 3])
        joined = w.node("Reshape", f"joined{k}", turned, "join")
        out = w.node("MatMul", f"attended{k}", joined, w.weight(f"w_o{k}", width, width))
        tensor = w.node("Add", f"add_a{k}", tensor, out)
        normal = w.node(
            "LayerNormalization",
            f"normal_f{k}",
            tensor,
            w.weight(f"gain_f{k}", width),
            w.weight(f"shift_f{k}", width),
        )
        up = w.node("MatMul", f"up{k}", normal, w.weight(f"w_up{k}", width, 4 * width))
        biased = w.node("Add", f"biased{k}", up, w.weight(f"b_up{k}", 4 * width))
        active = w.node("Gelu", f"gelu{k}", biased)
        down = w.node("MatMul", f"down{k}", active, w.weight(f"w_down{k}", 4 * width, width))
        tensor = w.node("Add", f"add_f{k}", tensor, down)
    logits = w.node("MatMul", "logits", tensor, w.weight("classifier", width, words))
    w.node("Softmax", "probabilities", logits, axis=-1)
    graph = helper.make_graph(
        w.nodes,
        "transformer",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", sequence])],
        [
            helper.make_tensor_value_info(
                "probabilities", TensorProto.FLOAT, ["batch", sequence, words]
            )
        ],
        w.weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    model.ir_version = 10
    checker.check_model(model)
    return model


if __name__ == "__main__":
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "transformer.onnx")
    save(transformer(), path)
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
