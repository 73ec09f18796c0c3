"""Shapes of operators' outputs, by kind, and what operators are told beside their inputs.

Products of tensors are written as one equation over named axes, "mk,kn->mn":

- `matmul` of the last two axes; the first operand may have leading axes, and both the same ones;
- `weight_grad`: the product of an input and the gradient of an output, summed over all leading
  axes: "abk,abn->kn";
- `einsum` with the equation given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import model_serializer

from gadgetopt.system.data import Data, NonNegativeInt, PositiveInt

from .labels import Shape

Shapes = Sequence[Shape]


class Attributes(Data):
    """What an operator is told beside its inputs; each kind takes a few of these.

    Attributes
    ----------
    transpose_a, transpose_b : bool
        Of a matmul: the last two axes of an operand are exchanged.
    equation : str
        Of an einsum.
    axis : int, optional
        Of a bias_add: the axis of the channels, by default the last. Of an expand: the new axis. Of
        a slice, a pad and a concat: the axis that they cut or lengthen.
    axes : tuple of int
        Of a reduce_sum.
    keep_axes : bool
        Of a reduce_sum: summed axes stay, with one element.
    permutation : tuple of int
        Of a transpose: the axis of the input that becomes each axis of the output.
    rows : int, optional
        Of an embedding_grad: rows of the table. Of an expand, a slice and a pad: extent of the
        axis afterwards.
    start : int, optional
        Of a slice and a pad: where the slice begins.
    capacity : int, optional
        Of a moe_gate: tokens of a group that an expert takes.
    factor : float, optional
        Of a scale; costs do not depend on it.
    """

    transpose_a: bool = False
    transpose_b: bool = False
    equation: str = ""
    axis: NonNegativeInt | None = None
    axes: tuple[NonNegativeInt, ...] = ()
    keep_axes: bool = False
    permutation: tuple[NonNegativeInt, ...] = ()
    rows: PositiveInt | None = None
    start: NonNegativeInt | None = None
    capacity: PositiveInt | None = None
    factor: float | None = None

    @property
    def given(self) -> dict[str, Any]:
        """The attributes that are not the default ones."""
        fields = type(self).model_fields
        return {k: getattr(self, k) for k, f in fields.items() if getattr(self, k) != f.default}

    @model_serializer
    def _write(self) -> dict[str, Any]:
        return self.given


# -- products ----------------------------------------------------------------------------------


def equation_of(kind: str, ranks: Sequence[int], attributes: Attributes) -> str:
    """Return the equation of a product such as "mk,kn->mn".

    Raises
    ------
    ValueError
        If the operands' numbers of axes do not fit.
    """
    if kind == "einsum":
        return attributes.equation
    a, b = ranks
    if kind == "weight_grad":
        if a != b or a < 2:
            raise ValueError(f"weight_grad of operands with {a} and {b} axes")
        lead = _leading(a - 1)
        return f"{lead}k,{lead}n->kn"
    if b not in (2, a) or a < 2 or (b != a and attributes.transpose_a):
        raise ValueError(f"matmul of operands with {a} and {b} axes")
    lead, lead_b = _leading(a - 2), _leading(b - 2)
    left = "km" if attributes.transpose_a else "mk"
    right = "nk" if attributes.transpose_b else "kn"
    return f"{lead}{left},{lead_b}{right}->{lead}mn"


def operand_axes(equation: str) -> tuple[list[str], str]:
    """Return the axes of every operand and of the output of an equation.

    Raises
    ------
    ValueError
        If it is not an equation of letters, each at most once in an operand.
    """
    left, arrow, out = equation.partition("->")
    operands = left.split(",")
    letters = "".join(operands)
    if not arrow or not all(s.isalpha() and len(set(s)) == len(s) for s in [*operands, out]):
        raise ValueError(f"equation {equation!r} is not one such as 'mk,kn->mn'")
    for letter in out:
        if letter not in letters:
            raise ValueError(f"equation {equation!r}: axis {letter!r} is in no operand")
    return operands, out


def _leading(n: int) -> str:
    if n > 8:
        raise ValueError("a product of more than ten axes")
    return "abcdefgh"[:n]


def product_extents(
    kind: str, shapes: Shapes, attributes: Attributes
) -> tuple[dict[str, int], str]:
    """Return the extents of the axes of a product by letter, and the axes of its output."""
    equation = equation_of(kind, [len(s) for s in shapes], attributes)
    operands, out = operand_axes(equation)
    if len(operands) != len(shapes):
        raise ValueError(f"equation {equation!r} has {len(operands)} operands, not {len(shapes)}")
    extents: dict[str, int] = {}
    for which, (axes, shape) in enumerate(zip(operands, shapes, strict=True)):
        if len(axes) != len(shape):
            raise ValueError(f"{kind}: input {which} has {len(shape)} axes, not {len(axes)}")
        for axis, (letter, extent) in enumerate(zip(axes, shape, strict=True)):
            if extents.setdefault(letter, extent) != extent:
                raise ValueError(
                    f"{kind}: axis {axis} of input {which} has extent {extent}, "
                    f"not the {extents[letter]} of the axis it is multiplied with"
                )
    return extents, out


def product_shape(kind: str) -> Callable[[Shapes, Attributes], Shape]:
    """Return the function from the shapes of operands to that of their product."""

    def shape(shapes: Shapes, attributes: Attributes) -> Shape:
        extents, out = product_extents(kind, shapes, attributes)
        return tuple(extents[letter] for letter in out)

    return shape


# -- other shapes ------------------------------------------------------------------------------


def text(shape: Shape) -> str:
    """Return a shape as text."""
    return "x".join(map(str, shape)) or "scalar"


def same(shapes: Shapes, attributes: Attributes) -> Shape:
    """Return the shape that all inputs have."""
    for which, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ValueError(f"input {which} has shape {text(shape)}, not {text(shapes[0])}")
    return shapes[0]


def broadcast(shapes: Shapes, attributes: Attributes) -> Shape:
    """Return the shape of operands aligned at their last axes; an extent of 1 is repeated."""
    rank = max(len(s) for s in shapes)
    out = []
    for axis in range(rank):
        extents = {s[axis - rank + len(s)] for s in shapes if axis - rank + len(s) >= 0} - {1}
        if len(extents) > 1:
            raise ValueError(f"axis {axis} has the extents {sorted(extents)}, which do not agree")
        out.append(extents.pop() if extents else 1)
    return tuple(out)


def bias(shapes: Shapes, attributes: Attributes) -> Shape:
    """Return the shape of the first input; the second is added along one axis."""
    axis = channel_axis(shapes[0], attributes)
    if shapes[1] != (shapes[0][axis],):
        raise ValueError(
            f"bias_add: the bias has shape {text(shapes[1])}, "
            f"not the {shapes[0][axis]} of axis {axis}"
        )
    return shapes[0]


def channel_axis(shape: Shape, attributes: Attributes) -> int:
    """Return the axis to which a bias is added, by default the last."""
    return _axis(len(shape) - 1 if attributes.axis is None else attributes.axis, shape)


def _axis(axis: int, shape: Shape) -> int:
    if axis >= len(shape):
        raise ValueError(f"axis {axis} of a tensor of {len(shape)} axes")
    return axis


def normalised(shapes: Shapes, attributes: Attributes) -> Shape:
    """Return the shape of x; scale and bias are along its last axis."""
    for which, shape in enumerate(shapes[1:], 1):
        if shape != shapes[0][-1:]:
            raise ValueError(
                f"input {which} has shape {text(shape)}, not the {shapes[0][-1]} of the last axis"
            )
    return shapes[0]


def normalised_grad(shapes: Shapes, attributes: Attributes) -> Shape:
    """Return the shape of x and of the gradient."""
    return same([normalised([shapes[0], *shapes[2:]], attributes), shapes[1]], attributes)


def last_axis(shapes: Shapes, attributes: Attributes) -> Shape:
    """Return the extent of the last axis."""
    return same(shapes, attributes)[-1:]


def reduced_axes(shape: Shape, attributes: Attributes) -> tuple[int, ...]:
    """Return the axes over which a sum runs."""
    return tuple(_axis(a, shape) for a in attributes.axes)


def reduced(shapes: Shapes, attributes: Attributes) -> Shape:
    """Return the shape without the summed axes, or with one element along them."""
    axes = reduced_axes(shapes[0], attributes)
    if attributes.keep_axes:
        return tuple(1 if a in axes else n for a, n in enumerate(shapes[0]))
    return tuple(n for a, n in enumerate(shapes[0]) if a not in axes)


def loss(shapes: Shapes, attributes: Attributes) -> Shape:
    """Return the shape of logits; classes have one axis less."""
    if len(shapes) == 2 and shapes[1] != shapes[0][:-1]:
        raise ValueError(
            f"cross_entropy_grad: the classes have shape {text(shapes[1])}, "
            f"not {text(shapes[0][:-1])}"
        )
    return shapes[0]


def embedded(shapes: Shapes, attributes: Attributes) -> Shape:
    """Return the shape of the rows of a table that ids choose."""
    table, ids = shapes
    if len(table) != 2:
        raise ValueError(f"embedding: the table has {len(table)} axes, not 2")
    return (*ids, table[1])


def embedding_grad(shapes: Shapes, attributes: Attributes) -> Shape:
    """Return the shape of the table."""
    ids, grad = shapes
    if grad[:-1] != ids:
        raise ValueError(f"embedding_grad: the gradient has shape {text(grad)}")
    return (_given(attributes.rows, "rows"), grad[-1])


def expanded(shapes: Shapes, attributes: Attributes) -> Shape:
    """Return the shape with a new axis."""
    axis, rows = _given(attributes.axis, "axis"), _given(attributes.rows, "rows")
    if axis > len(shapes[0]):
        raise ValueError(f"expand: a new axis {axis} of a tensor of {len(shapes[0])} axes")
    return (*shapes[0][:axis], rows, *shapes[0][axis:])


def _along(shape: Shape, attributes: Attributes) -> tuple[int, int, int]:
    axis = _axis(_given(attributes.axis, "axis"), shape)
    return axis, attributes.start or 0, _given(attributes.rows, "rows")


def cut(shapes: Shapes, attributes: Attributes) -> Shape:
    """Return the shape of a slice."""
    axis, start, rows = _along(shapes[0], attributes)
    if start + rows > shapes[0][axis]:
        raise ValueError(f"slice: axis {axis} ends at {shapes[0][axis]}, not {start + rows}")
    return (*shapes[0][:axis], rows, *shapes[0][axis + 1 :])


def padded(shapes: Shapes, attributes: Attributes) -> Shape:
    """Return the shape of a tensor that is filled up along an axis."""
    axis, start, rows = _along(shapes[0], attributes)
    if start + shapes[0][axis] > rows:
        raise ValueError(f"pad: axis {axis} needs {start + shapes[0][axis]} rows, not {rows}")
    return (*shapes[0][:axis], rows, *shapes[0][axis + 1 :])


def joined(shapes: Shapes, attributes: Attributes) -> Shape:
    """Return the shape of tensors joined along an axis."""
    axis = _axis(_given(attributes.axis, "axis"), shapes[0])
    rest = [(*s[:axis], *s[axis + 1 :]) for s in shapes]
    same(rest, attributes)
    return (*shapes[0][:axis], sum(s[axis] for s in shapes), *shapes[0][axis + 1 :])


def transposed(shapes: Shapes, attributes: Attributes) -> Shape:
    """Return the shape with its axes permuted."""
    return tuple(shapes[0][a] for a in permutation(shapes[0], attributes))


def permutation(shape: Shape, attributes: Attributes) -> tuple[int, ...]:
    """Return the axis of the input that becomes each axis of a transpose's output."""
    given = attributes.permutation
    if sorted(given) != list(range(len(shape))):
        raise ValueError(f"permutation {list(given)} of {len(shape)} axes")
    return given


def gated(shapes: Shapes, attributes: Attributes) -> Shape:
    """Return the shape of a gate: the places of all experts, for every token."""
    if len(shapes[0]) != 3:
        raise ValueError("moe_gate: the probabilities have the axes group, token, expert")
    return (*shapes[0], _given(attributes.capacity, "capacity"))


def gate_grad(shapes: Shapes, attributes: Attributes) -> Shape:
    """Return the shape of the probabilities."""
    if len(shapes[0]) != 3 or shapes[1][:3] != shapes[0] or len(shapes[1]) != 4:
        raise ValueError("moe_gate_grad: the gradient has the axes group, token, expert, place")
    return shapes[0]


def _given(value: int | None, name: str) -> int:
    if value is None:
        raise ValueError(f"attributes.{name} is missing")
    return value
