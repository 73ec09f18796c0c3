"""The kinds of operators: how many inputs they take, the shape of their output, and their work.

A product takes two floating-point operations for every multiplication, a sum one for every element
of its input; what only names or moves data takes none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from . import shapes as shape_of
from .labels import Shape, elements
from .shapes import Attributes, Shapes


@dataclass(frozen=True)
class Kind:
    """What is known of an operator of one kind.

    Attributes
    ----------
    inputs : tuple of int
        Allowed numbers of inputs.
    output : callable or None
        `(input shapes, attributes) -> shape`; None if the shape is the operator's own choice.
    work : callable or None
        `(input shapes, attributes)` -> floating-point operations of one device that does all of
        it; None if it computes element by element.
    attributes : tuple of str
        Names of the attributes it takes.
    """

    inputs: tuple[int, ...]
    output: Callable[[Shapes, Attributes], Shape] | None
    work: Callable[[Shapes, Attributes], int] | None
    attributes: tuple[str, ...] = ()


def check_shapes(kind: str, shapes: Shapes, shape: Shape, attributes: Attributes) -> None:
    """Raise an error unless an operator of this kind puts out this shape.

    Parameters
    ----------
    kind : str
        A name of `KINDS`.
    shapes : sequence of Shape
        Shapes of the inputs.
    shape : Shape
        Shape of the output.
    attributes : Attributes

    Raises
    ------
    ValueError
        If inputs, attributes or the given shape do not fit the kind, with a sentence that names
        the axis.
    """
    rule = KINDS[kind]
    if len(shapes) not in rule.inputs:
        wanted = " or ".join(map(str, rule.inputs))
        raise ValueError(f"{kind} takes {wanted} inputs, not {len(shapes)}")
    for name in attributes.given:
        if name not in rule.attributes:
            known = ", ".join(rule.attributes) or "none"
            raise ValueError(f"{kind} has no attribute {name!r}; it has: {known}")
    if kind == "reshape" and elements(shape) != elements(shapes[0]):
        raise ValueError(
            f"reshape turns {shape_of.text(shapes[0])} into {shape_of.text(shape)} of another size"
        )
    expected = shape if rule.output is None else rule.output(shapes, attributes)
    if shape != expected:
        raise ValueError(
            f"the output of {kind} has shape {shape_of.text(expected)}, not {shape_of.text(shape)}"
        )


def inferred_shape(kind: str, shapes: Shapes, attributes: Attributes) -> Shape:
    """Return the shape of the output of a kind that does not choose it.

    Raises
    ------
    ValueError
        If the inputs do not fit, with a sentence that names the axis.
    """
    rule = KINDS[kind]
    if rule.output is None or len(shapes) not in rule.inputs:
        raise ValueError(f"{kind} of {len(shapes)} inputs has no shape of its own")
    return rule.output(shapes, attributes)


def flops(kind: str, attributes: Attributes, shapes: Shapes) -> int | None:
    """Return the floating-point operations of an operator on one device that does all of it.

    None for operators that compute element by element.
    """
    work = KINDS[kind].work
    return None if work is None else work(shapes, attributes)


def _product_work(kind: str) -> Callable[[Shapes, Attributes], int]:
    def work(shapes: Shapes, attributes: Attributes) -> int:
        extents, _ = shape_of.product_extents(kind, shapes, attributes)
        return 2 * math.prod(extents.values())

    return work


def _nothing(shapes: Shapes, attributes: Attributes) -> int:
    return 0


def _summands(shapes: Shapes, attributes: Attributes) -> int:
    return elements(shapes[-1])


def _product(kind: str, *attributes: str) -> Kind:
    inputs = (1, 2, 3) if kind == "einsum" else (2,)
    return Kind(inputs, shape_of.product_shape(kind), _product_work(kind), attributes)


KINDS: dict[str, Kind] = {
    "source": Kind((0,), None, _nothing),
    "variable": Kind((0,), None, _nothing),
    "matmul": _product("matmul", "transpose_a", "transpose_b"),
    "weight_grad": _product("weight_grad"),
    "einsum": _product("einsum", "equation"),
    "relu": Kind((1,), shape_of.same, None),
    "gelu": Kind((1,), shape_of.same, None),
    "tanh": Kind((1,), shape_of.same, None),
    "sigmoid": Kind((1,), shape_of.same, None),
    "positive": Kind((1,), shape_of.same, None),
    "dropout": Kind((2,), shape_of.same, None),
    "relu_grad": Kind((2,), shape_of.same, None),
    "gelu_grad": Kind((2,), shape_of.same, None),
    "tanh_grad": Kind((2,), shape_of.same, None),
    "sigmoid_grad": Kind((2,), shape_of.same, None),
    "multiply": Kind((2,), shape_of.broadcast, None),
    "add": Kind((2,), shape_of.broadcast, None),
    "subtract": Kind((2,), shape_of.broadcast, None),
    "scale": Kind((1,), shape_of.same, None, ("factor",)),
    "bias_add": Kind((2,), shape_of.bias, None, ("axis",)),
    "softmax": Kind((1,), shape_of.same, None),
    "softmax_grad": Kind((2,), shape_of.same, None),
    "layer_norm": Kind((1, 2, 3), shape_of.normalised, None),
    "layer_norm_grad": Kind((2, 3), shape_of.normalised_grad, None),
    "layer_norm_scale_grad": Kind((2,), shape_of.last_axis, _summands),
    "reduce_sum": Kind((1,), shape_of.reduced, _summands, ("axes", "keep_axes")),
    "cross_entropy_grad": Kind((1, 2), shape_of.loss, None),
    "embedding": Kind((2,), shape_of.embedded, None),
    "embedding_grad": Kind((2,), shape_of.embedding_grad, _summands, ("rows",)),
    "update": Kind((2,), shape_of.same, None),
    "expand": Kind((1,), shape_of.expanded, None, ("axis", "rows")),
    "slice": Kind((1,), shape_of.cut, _nothing, ("axis", "start", "rows")),
    "pad": Kind((1,), shape_of.padded, _nothing, ("axis", "start", "rows")),
    "concat": Kind(tuple(range(1, 65)), shape_of.joined, _nothing, ("axis",)),
    "reshape": Kind((1,), None, _nothing),
    "transpose": Kind((1,), shape_of.transposed, _nothing, ("permutation",)),
    "moe_gate": Kind((1,), shape_of.gated, None, ("capacity",)),
    "moe_gate_grad": Kind((2,), shape_of.gate_grad, None),
}
