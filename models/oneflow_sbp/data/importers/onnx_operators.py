"""ONNX operators as kinds of operators.

Activations whose gradient has the shape and cost of another's are counted as that: LeakyRelu as
relu, Erf as tanh, Elu, Softplus, Mish and HardSwish as gelu.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..generate.training import Graph

if TYPE_CHECKING:
    from onnx import NodeProto

    from .onnx import Network

#: What does nothing in inference, or changes the type of numbers only.
_PASSED = ("Identity", "Dropout", "Cast")
_RESHAPED = ("Reshape", "Flatten", "Squeeze", "Unsqueeze")
_ELEMENTWISE = {
    "Relu": "relu",
    "LeakyRelu": "relu",
    "Gelu": "gelu",
    "Elu": "gelu",
    "Softplus": "gelu",
    "Mish": "gelu",
    "HardSwish": "gelu",
    "Swish": "gelu",
    "Tanh": "tanh",
    "Erf": "tanh",
    "Sigmoid": "sigmoid",
    "HardSigmoid": "sigmoid",
}


class NotSupported(Exception):
    """An operator, or a form of it, that is not supported."""


class NotConverted(Exception):
    """A tensor that comes from an operator that is not supported."""


class Conversion:
    """The graph of operators while the nodes of a network are converted.

    Parameters
    ----------
    network : Network

    Attributes
    ----------
    graph : Graph
    tensors : dict
        The operator that holds every tensor of the network converted so far.
    """

    def __init__(self, network: Network):
        self.network = network
        self.graph: Graph = Graph()
        self.tensors: dict[str, str] = {}
        for name in network.inputs:
            self.tensors[name] = self.graph.source(name, *network.shapes[name])
        self.rules: dict[str, Callable[[NodeProto, str], str]] = {
            "MatMul": self._matmul,
            "Gemm": self._gemm,
            "Einsum": self._einsum,
            "Add": self._add,
            "Sub": self._subtract,
            "Mul": self._multiply,
            "Div": self._divide,
            "Neg": lambda node, name: self.graph.add(
                name, "scale", self._tensor(node.input[0]), factor=-1.0
            ),
            "Pow": self._power,
            "Softmax": self._softmax,
            "LayerNormalization": self._layer_norm,
            "RMSNormalization": self._layer_norm,
            "SimplifiedLayerNormalization": self._layer_norm,
            "ReduceMean": self._reduce,
            "ReduceSum": self._reduce,
            "GlobalAveragePool": self._reduce,
            "Gather": self._gather,
            "Transpose": self._transpose,
            "Split": self._split,
            "Slice": self._slice,
            "Concat": self._concat,
        }

    def convert(self, node: NodeProto) -> None:
        """Add a node's operators.

        Raises
        ------
        NotSupported
            If there is no kind for it.
        NotConverted
            If an input was not converted.
        ValueError
            If shapes do not fit.
        """
        kind, name = node.op_type, node.output[0]
        if kind in _PASSED:
            self.tensors[name] = self._tensor(node.input[0])
            self.network.left_out[kind] += 1
        elif kind in _RESHAPED:
            self.tensors[name] = self._reshaped(node, name)
        elif kind in _ELEMENTWISE:
            self.tensors[name] = self.graph.add(
                name, _ELEMENTWISE[kind], self._tensor(node.input[0])
            )
        elif kind in self.rules:
            self.tensors[name] = self.rules[kind](node, name)
        else:
            raise NotSupported(kind)

    def _tensor(self, name: str) -> str:
        """Return the operator that holds a tensor; a weight or a constant becomes one."""
        if name in self.tensors:
            return self.tensors[name]
        if name in self.network.weights:
            shape = self.network.weights[name]
            self.tensors[name] = self.graph.variable(name, *shape)
        elif name not in self.network.constants:
            raise NotConverted(name)
        else:
            # A number has an axis, so that it is a tensor.
            shape = self.network.constants[name].shape or (1,)
            self.tensors[name] = self.graph.source(name, *shape)
        return self.tensors[name]

    def _number(self, name: str) -> float | None:
        """Return the value of a constant of one element."""
        value = self.network.constants.get(name)
        return float(value.reshape(-1)[0]) if value is not None and value.size == 1 else None

    def _integers(self, node: NodeProto, slot: int, attribute: str) -> list[int] | None:
        """Return integers that are an input in newer files and an attribute in older ones."""
        given = _attributes(node).get(attribute)
        if len(node.input) > slot and node.input[slot]:
            value = self.network.constants.get(node.input[slot])
            if value is None:
                raise NotSupported(f"{node.op_type} with {attribute} that depend on data")
            return [int(x) for x in value.reshape(-1)]
        return None if given is None else [int(x) for x in np.atleast_1d(given)]

    # -- products ----------------------------------------------------------------------------------

    def _matmul(self, node: NodeProto, name: str) -> str:
        a, b = (self._tensor(x) for x in node.input)
        left, right = self.graph.shape(a), self.graph.shape(b)
        if len(right) != 2 and (len(left) != len(right) or left[:-2] != right[:-2]):
            raise NotSupported("MatMul of operands whose leading axes differ")
        return self.graph.add(name, "matmul", a, b)

    def _gemm(self, node: NodeProto, name: str) -> str:
        given = _attributes(node)
        flags = {
            k: True
            for k, old in (("transpose_a", "transA"), ("transpose_b", "transB"))
            if given.get(old, 0)
        }
        a, b = self._tensor(node.input[0]), self._tensor(node.input[1])
        if len(node.input) < 3 or not node.input[2]:
            return self.graph.add(name, "matmul", a, b, **flags)
        product = self.graph.add(f"{name}_product", "matmul", a, b, **flags)
        return self._sum(name, product, self._tensor(node.input[2]))

    def _einsum(self, node: NodeProto, name: str) -> str:
        equation = _attributes(node)["equation"].decode().replace(" ", "")
        operands = [self._tensor(x) for x in node.input]
        if "..." in equation or "->" not in equation:
            raise NotSupported("Einsum without all axes written")
        return self.graph.add(name, "einsum", *operands, equation=equation)

    # -- element by element ------------------------------------------------------------------------

    def _sum(self, name: str, a: str, b: str) -> str:
        shape = self.graph.shape(b)
        if len(shape) == 1 and shape == self.graph.shape(a)[-1:]:
            return self.graph.add(name, "bias_add", a, b)
        return self.graph.add(name, "add", a, b)

    def _add(self, node: NodeProto, name: str) -> str:
        a, b = (self._tensor(x) for x in node.input)
        if len(self.graph.shape(a)) < len(self.graph.shape(b)):
            a, b = b, a
        return self._sum(name, a, b)

    def _subtract(self, node: NodeProto, name: str) -> str:
        return self.graph.add(name, "subtract", *(self._tensor(x) for x in node.input))

    def _multiply(self, node: NodeProto, name: str) -> str:
        for this, other in (node.input, tuple(reversed(node.input))):
            factor = self._number(other)
            if factor is not None:
                return self.graph.add(name, "scale", self._tensor(this), factor=factor)
        return self.graph.add(name, "multiply", *(self._tensor(x) for x in node.input))

    def _divide(self, node: NodeProto, name: str) -> str:
        divisor = self._number(node.input[1])
        if not divisor:
            raise NotSupported("Div by a tensor (normalisations: export with opset 17 or later)")
        return self.graph.add(name, "scale", self._tensor(node.input[0]), factor=1 / divisor)

    def _power(self, node: NodeProto, name: str) -> str:
        if self._number(node.input[1]) != 2:
            raise NotSupported("Pow with an exponent other than 2")
        x = self._tensor(node.input[0])
        return self.graph.add(name, "multiply", x, x)

    def _softmax(self, node: NodeProto, name: str) -> str:
        x = self._tensor(node.input[0])
        rank = len(self.graph.shape(x))
        if _attributes(node).get("axis", -1) not in (-1, rank - 1):
            raise NotSupported("Softmax along another axis than the last")
        return self.graph.add(name, "softmax", x)

    def _layer_norm(self, node: NodeProto, name: str) -> str:
        operands = [self._tensor(x) for x in node.input if x]
        rank = len(self.graph.shape(operands[0]))
        if _attributes(node).get("axis", -1) not in (-1, rank - 1):
            raise NotSupported(f"{node.op_type} over more than the last axis")
        return self.graph.add(name, "layer_norm", *operands)

    # -- axes --------------------------------------------------------------------------------------

    def _reduce(self, node: NodeProto, name: str) -> str:
        x = self._tensor(node.input[0])
        shape = self.graph.shape(x)
        if node.op_type == "GlobalAveragePool":
            axes, keep = list(range(2, len(shape))), True
        else:
            given = self._integers(node, 1, "axes")
            axes = [a % len(shape) for a in given or range(len(shape))]
            keep = bool(_attributes(node).get("keepdims", 1))
        flags = {"keep_axes": True} if keep else {}
        if node.op_type == "ReduceSum":
            return self.graph.add(name, "reduce_sum", x, axes=tuple(axes), **flags)
        total = self.graph.add(f"{name}_sum", "reduce_sum", x, axes=tuple(axes), **flags)
        count = int(np.prod([shape[a] for a in axes]))
        return self.graph.add(name, "scale", total, factor=1 / count)

    def _gather(self, node: NodeProto, name: str) -> str:
        table = node.input[0]
        x = self._tensor(table)
        shape = self.graph.shape(x)
        axis = _attributes(node).get("axis", 0) % len(shape)
        index = self._number(node.input[1])
        if index is not None:
            start = int(index) % shape[axis]
            cut = self.graph.add(f"{name}_row", "slice", x, axis=axis, start=start, rows=1)
            return self.graph.reshape(name, cut, *self.network.shapes[name])
        if axis != 0 or len(shape) != 2:
            raise NotSupported("Gather but of rows of a table, or of one index")
        return self.graph.add(name, "embedding", x, self._tensor(node.input[1]))

    def _reshaped(self, node: NodeProto, name: str) -> str:
        x = self._tensor(node.input[0])
        shape = self.network.shapes.get(name)
        if shape is None:
            raise NotSupported(f"{node.op_type} to a shape that depends on data")
        return x if shape == self.graph.shape(x) else self.graph.reshape(name, x, *shape)

    def _transpose(self, node: NodeProto, name: str) -> str:
        x = self._tensor(node.input[0])
        default = list(range(len(self.graph.shape(x))))[::-1]
        permutation = tuple(_attributes(node).get("perm", default))
        return self.graph.add(name, "transpose", x, permutation=permutation)

    def _split(self, node: NodeProto, name: str) -> str:
        x = self._tensor(node.input[0])
        shape = self.graph.shape(x)
        axis = _attributes(node).get("axis", 0) % len(shape)
        start = 0
        for output in node.output:
            rows = self.network.shapes[output][axis]
            self.tensors[output] = self.graph.add(
                output, "slice", x, axis=axis, start=start, rows=rows
            )
            start += rows
        return self.tensors[name]

    def _slice(self, node: NodeProto, name: str) -> str:
        x = self._tensor(node.input[0])
        shape = self.graph.shape(x)
        starts = self._integers(node, 1, "starts") or []
        axes = self._integers(node, 3, "axes") or list(range(len(starts)))
        if any(step != 1 for step in self._integers(node, 4, "steps") or []):
            raise NotSupported("Slice with steps")
        target = self.network.shapes[name]
        cut = [k for k, a in enumerate(axes) if target[a % len(shape)] < shape[a % len(shape)]]
        for k in cut:
            axis = axes[k] % len(shape)
            start = max(0, starts[k] + shape[axis] if starts[k] < 0 else starts[k])
            last = name if k == cut[-1] else f"{name}_axis{axis}"
            x = self.graph.add(last, "slice", x, axis=axis, start=start, rows=target[axis])
        return x

    def _concat(self, node: NodeProto, name: str) -> str:
        operands = [self._tensor(x) for x in node.input]
        axis = _attributes(node)["axis"] % len(self.graph.shape(operands[0]))
        return self.graph.add(name, "concat", *operands, axis=axis)


def _attributes(node: NodeProto) -> dict[str, Any]:
    from onnx import helper

    return {a.name: helper.get_attribute_value(a) for a in node.attribute}
