"""Graphs under construction, and the training graph of a network.

A network is added operator by operator; `train` adds the gradient of the loss, those of all
operators on which variables act, in reverse order, and an update for every variable: for a product
Y = X W the gradients X^T dY and dY W^T, for an activation its gradient operator, and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gadgetopt.errors import InputError

from ...instance import Operator
from ...labels import PARTIAL, Shape, split
from ...operators import inferred_shape
from ...shapes import (
    Attributes,
    operand_axes,
)
from .by_samples import BySamples


class NoGradient(InputError):
    """The gradient of an operator is not known; the message names its kind."""


class Graph:
    """Operators in topological order.

    Parameters
    ----------
    placement : str
        Where operators are placed; may be changed between two of them.
    dtype_bytes : int

    Attributes
    ----------
    operators : dict
        By name, in order.
    assumed : dict
        What is assumed of operators of no kind.
    """

    def __init__(self, placement: str = "g0", dtype_bytes: int = 4):
        self.placement: str = placement
        self.dtype_bytes = dtype_bytes
        self.operators: dict[str, Operator] = {}
        self.assumed: dict[str, BySamples] = {}

    def source(self, name: str, *shape: int) -> str:
        """Add data; return its name."""
        return self._append(name, "source", (), shape, Attributes())

    def variable(self, name: str, *shape: int) -> str:
        """Add a variable; return its name."""
        return self._append(name, "variable", (), shape, Attributes())

    def reshape(self, name: str, tensor: str, *shape: int) -> str:
        """Add a reshape; return its name."""
        return self._append(name, "reshape", (tensor,), shape, Attributes())

    def add(self, name: str, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator whose shape follows from its inputs; return its name.

        Raises
        ------
        ValueError
            If the inputs do not fit, with a sentence that names the operator.
        """
        given = Attributes(**attributes)
        try:
            shape = inferred_shape(kind, [self.shape(tensor) for tensor in inputs], given)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        return self._append(name, kind, inputs, shape, given)

    def add_by_samples(
        self,
        name: str,
        inputs: tuple[str, ...],
        shape: Shape,
        assumed: BySamples,
        output: str = split(0),
    ) -> str:
        """Add an operator of no kind; return its name."""
        shapes = [self.shape(tensor) for tensor in inputs]
        listed = assumed.signatures(shapes, shape, self.dtype_bytes, output)
        self._append(name, "custom", inputs, shape, Attributes())
        self.operators[name] = self.operators[name].model_copy(update={"signatures": listed})
        self.assumed[name] = assumed
        return name

    def shape(self, tensor: str) -> Shape:
        """Return the shape of an operator's output."""
        return self.operators[tensor].shape

    def train(self, logits: str, classes: str | None = None) -> None:
        """Add the gradient of the cross entropy of logits, all gradients, and the updates.

        Raises
        ------
        NoGradient
            If a variable acts through an operator whose gradient is not known.
        """
        forward = list(self.operators.values())
        differentiated = _touched_by_variables(forward)
        last = [logits] if classes is None else [logits, classes]
        self.placement = self.operators[logits].placement
        loss = self.add(f"d_{logits}", "cross_entropy_grad", *last)
        gradients = {logits: [loss]}
        for operator in reversed(forward):
            if operator.name not in gradients or operator.name not in differentiated:
                continue
            self.placement = operator.placement
            gradient = self._sum(operator.name, gradients.pop(operator.name))
            if operator.kind == "variable":
                self.add(f"update_{operator.name}", "update", operator.name, gradient)
                continue
            for slot in reversed(range(len(operator.inputs))):
                tensor = operator.inputs[slot]
                if tensor in differentiated:
                    name = f"d_{tensor}"
                    if name in self.operators or tensor in gradients:
                        name = f"d_{tensor}_by_{operator.name}_{slot}"
                    found = self._gradient(name, operator, slot, gradient)
                    gradients.setdefault(tensor, []).append(found)

    def _append(
        self,
        name: str,
        kind: str,
        inputs: tuple[str, ...],
        shape: Shape,
        attributes: Attributes,
    ) -> str:
        if name in self.operators:
            raise ValueError(f"{name}: there is an operator of this name already")
        self.operators[name] = Operator(
            name=name,
            kind=kind,
            inputs=inputs,
            shape=shape,
            placement=self.placement,
            dtype_bytes=self.dtype_bytes,
            attributes=attributes,
        )
        return name

    def _sum(self, tensor: str, gradients: list[str]) -> str:
        """Return the sum of a tensor's gradients over all its uses."""
        total = gradients[0]
        for k, gradient in enumerate(gradients[1:], 1):
            total = self.add(f"d_{tensor}_sum{k}", "add", total, gradient)
        return total

    def _gradient(self, name: str, operator: Operator, slot: int, gradient: str) -> str:
        """Add the gradient for an input slot, given that of the output."""
        rule = _GRADIENTS.get(operator.kind)
        if rule is None:
            raise NoGradient(f"{operator.name}: the gradient of {operator.kind} is not known")
        return rule(self, name, operator, slot, gradient)

    def reduced_to(self, name: str, gradient: str, shape: Shape) -> str:
        """Sum a gradient over the axes along which its operand was repeated."""
        given = self.shape(gradient)
        missing = len(given) - len(shape)
        ones = tuple(a for a in range(missing, len(given)) if shape[a - missing] < given[a])
        if missing:
            last = name if not ones else f"{name}_summed"
            gradient = self.add(last, "reduce_sum", gradient, axes=tuple(range(missing)))
        if ones:
            axes = tuple(a - missing for a in ones)
            gradient = self.add(name, "reduce_sum", gradient, axes=axes, keep_axes=True)
        return gradient


def _touched_by_variables(operators: list[Operator]) -> set[str]:
    touched: set[str] = set()
    for operator in operators:
        constant = operator.kind in ("source", "positive")
        if operator.kind == "variable" or (not constant and touched & set(operator.inputs)):
            touched.add(operator.name)
    return touched


# -- gradients: (graph, name, operator, slot, gradient of its output) -> gradient of the input -----

Rule = Callable[[Graph, str, Operator, int, str], str]


def _matmul(graph: Graph, name: str, o: Operator, slot: int, gradient: str) -> str:
    a, b = o.inputs
    ta, tb = o.attributes.transpose_a, o.attributes.transpose_b
    if slot == 1 and len(graph.shape(a)) > len(graph.shape(b)):
        pair = (gradient, a) if tb else (a, gradient)
        return graph.add(name, "weight_grad", *pair)
    if slot == 0:
        pair = (b, gradient) if ta else (gradient, b)
        transposes = (tb, True) if ta else (False, not tb)
    else:
        pair = (gradient, a) if tb else (a, gradient)
        transposes = (True, ta) if tb else (not ta, False)
    flags = {"transpose_a": transposes[0], "transpose_b": transposes[1]}
    return graph.add(name, "matmul", *pair, **{k: True for k, given in flags.items() if given})


def _einsum(graph: Graph, name: str, o: Operator, slot: int, gradient: str) -> str:
    operands, out = operand_axes(o.attributes.equation)
    others = [(operands[k], o.inputs[k]) for k in range(len(operands)) if k != slot]
    equation = f"{','.join([out, *(axes for axes, _ in others)])}->{operands[slot]}"
    return graph.add(name, "einsum", gradient, *(t for _, t in others), equation=equation)


def _by_output(kind: str) -> Rule:
    def rule(graph: Graph, name: str, o: Operator, slot: int, gradient: str) -> str:
        return graph.add(name, kind, o.name, gradient)

    return rule


def _by_input(kind: str) -> Rule:
    def rule(graph: Graph, name: str, o: Operator, slot: int, gradient: str) -> str:
        return graph.add(name, kind, o.inputs[0], gradient)

    return rule


def _dropout(graph: Graph, name: str, o: Operator, slot: int, gradient: str) -> str:
    return graph.add(name, "dropout", gradient, o.inputs[1 - slot])


def _aligned(graph: Graph, name: str, o: Operator, slot: int, gradient: str) -> str:
    shape = graph.shape(o.inputs[slot])
    if o.kind == "multiply":
        last = name if shape == o.shape else f"{name}_product"
        gradient = graph.add(last, "multiply", gradient, o.inputs[1 - slot])
    elif o.kind == "subtract" and slot == 1:
        last = name if shape == o.shape else f"{name}_scaled"
        gradient = graph.add(last, "scale", gradient, factor=-1.0)
    return graph.reduced_to(name, gradient, shape)


def _scale(graph: Graph, name: str, o: Operator, slot: int, gradient: str) -> str:
    factor = o.attributes.factor
    return graph.add(name, "scale", gradient, **({} if factor is None else {"factor": factor}))


def _bias(graph: Graph, name: str, o: Operator, slot: int, gradient: str) -> str:
    if slot == 0:
        return gradient
    channels = len(o.shape) - 1 if o.attributes.axis is None else o.attributes.axis
    axes = tuple(a for a in range(len(o.shape)) if a != channels)
    return graph.add(name, "reduce_sum", gradient, axes=axes)


def _layer_norm(graph: Graph, name: str, o: Operator, slot: int, gradient: str) -> str:
    if slot == 0:
        return graph.add(name, "layer_norm_grad", o.inputs[0], gradient, *o.inputs[1:2])
    if slot == 1:
        return graph.add(name, "layer_norm_scale_grad", o.inputs[0], gradient)
    return graph.add(name, "reduce_sum", gradient, axes=tuple(range(len(o.shape) - 1)))


def _reduce_sum(graph: Graph, name: str, o: Operator, slot: int, gradient: str) -> str:
    shape = graph.shape(o.inputs[0])
    if o.attributes.keep_axes:
        kept = tuple(n for a, n in enumerate(shape) if a not in o.attributes.axes)
        gradient = graph.reshape(f"{name}_kept", gradient, *kept)
    axes = sorted(set(o.attributes.axes))
    for k, axis in enumerate(axes):
        last = name if k == len(axes) - 1 else f"{name}_axis{axis}"
        gradient = graph.add(last, "expand", gradient, axis=axis, rows=shape[axis])
    return gradient


def _expand(graph: Graph, name: str, o: Operator, slot: int, gradient: str) -> str:
    return graph.add(name, "reduce_sum", gradient, axes=(o.attributes.axis or 0,))


def _embedding(graph: Graph, name: str, o: Operator, slot: int, gradient: str) -> str:
    rows = graph.shape(o.inputs[0])[0]
    return graph.add(name, "embedding_grad", o.inputs[1], gradient, rows=rows)


def _reshape(graph: Graph, name: str, o: Operator, slot: int, gradient: str) -> str:
    return graph.reshape(name, gradient, *graph.shape(o.inputs[0]))


def _transpose(graph: Graph, name: str, o: Operator, slot: int, gradient: str) -> str:
    given = o.attributes.permutation
    inverse = tuple(sorted(range(len(given)), key=given.__getitem__))
    return graph.add(name, "transpose", gradient, permutation=inverse)


def _slice(graph: Graph, name: str, o: Operator, slot: int, gradient: str) -> str:
    axis = o.attributes.axis or 0
    start, rows = o.attributes.start or 0, graph.shape(o.inputs[0])[axis]
    return graph.add(name, "pad", gradient, axis=axis, start=start, rows=rows)


def _concat(graph: Graph, name: str, o: Operator, slot: int, gradient: str) -> str:
    axis = o.attributes.axis or 0
    extents = [graph.shape(tensor)[axis] for tensor in o.inputs]
    start = sum(extents[:slot])
    return graph.add(name, "slice", gradient, axis=axis, start=start, rows=extents[slot])


def _by_samples(graph: Graph, name: str, o: Operator, slot: int, gradient: str) -> str:
    assumed = graph.assumed[o.name]
    # Of a tensor that all samples share, every part of the samples gives a part of the sum.
    output = split(0) if assumed.samples[slot] else PARTIAL
    shape, inputs = graph.shape(o.inputs[slot]), (gradient, *o.inputs)
    return graph.add_by_samples(name, inputs, shape, assumed.gradient(), output)


_GRADIENTS: dict[str, Rule] = {
    "custom": _by_samples,
    "matmul": _matmul,
    "einsum": _einsum,
    "relu": _by_output("relu_grad"),
    "tanh": _by_output("tanh_grad"),
    "sigmoid": _by_output("sigmoid_grad"),
    "gelu": _by_input("gelu_grad"),
    "dropout": _dropout,
    "multiply": _aligned,
    "add": _aligned,
    "subtract": _aligned,
    "scale": _scale,
    "bias_add": _bias,
    "softmax": _by_output("softmax_grad"),
    "layer_norm": _layer_norm,
    "reduce_sum": _reduce_sum,
    "expand": _expand,
    "embedding": _embedding,
    "slice": _slice,
    "concat": _concat,
    "reshape": _reshape,
    "transpose": _transpose,
    "moe_gate": _by_input("moe_gate_grad"),
}
