r"""The kinds of operators: how many inputs they take, the shape of their output, and their work.

Products of two tensors are written as one equation over named axes, "mk,kn->mn", from which their
signatures and their work follow:

- `matmul` of the last two axes; the first operand may have leading axes, and both the same ones;
- `weight_grad`: the product of an input and the gradient of an output, summed over all leading
  axes: "abk,abn->kn";
- `einsum` with the equation given.

A product takes two floating-point operations for every multiplication, a sum one for every element
of its input; what only names or moves data takes none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import model_serializer

from gadgetopt.system.data import Data, NonNegativeInt, PositiveInt

from .labels import Shape, elements

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
        raise ValueError(f"reshape turns {_text(shapes[0])} into {_text(shape)} of another size")
    expected = shape if rule.output is None else rule.output(shapes, attributes)
    if shape != expected:
        raise ValueError(f"the output of {kind} has shape {_text(expected)}, not {_text(shape)}")


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


def _product_extents(
    kind: str, shapes: Shapes, attributes: Attributes
) -> tuple[dict[str, int], str]:
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


def _product_shape(kind: str) -> Callable[[Shapes, Attributes], Shape]:
    def shape(shapes: Shapes, attributes: Attributes) -> Shape:
        extents, out = _product_extents(kind, shapes, attributes)
        return tuple(extents[letter] for letter in out)

    return shape


def _product_work(kind: str) -> Callable[[Shapes, Attributes], int]:
    def work(shapes: Shapes, attributes: Attributes) -> int:
        extents, _ = _product_extents(kind, shapes, attributes)
        return 2 * math.prod(extents.values())

    return work


# -- other shapes ------------------------------------------------------------------------------


def _text(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _same(shapes: Shapes, attributes: Attributes) -> Shape:
    for which, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ValueError(f"input {which} has shape {_text(shape)}, not {_text(shapes[0])}")
    return shapes[0]


def _broadcast(shapes: Shapes, attributes: Attributes) -> Shape:
    """Align the operands at their last axes; an extent of 1 is repeated."""
    rank = max(len(s) for s in shapes)
    out = []
    for axis in range(rank):
        extents = {s[axis - rank + len(s)] for s in shapes if axis - rank + len(s) >= 0} - {1}
        if len(extents) > 1:
            raise ValueError(f"axis {axis} has the extents {sorted(extents)}, which do not agree")
        out.append(extents.pop() if extents else 1)
    return tuple(out)


def _bias(shapes: Shapes, attributes: Attributes) -> Shape:
    axis = channel_axis(shapes[0], attributes)
    if shapes[1] != (shapes[0][axis],):
        raise ValueError(
            f"bias_add: the bias has shape {_text(shapes[1])}, "
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


def _normalised(shapes: Shapes, attributes: Attributes) -> Shape:
    """Shapes of x, and of scale and bias along its last axis."""
    for which, shape in enumerate(shapes[1:], 1):
        if shape != shapes[0][-1:]:
            raise ValueError(
                f"input {which} has shape {_text(shape)}, not the {shapes[0][-1]} of the last axis"
            )
    return shapes[0]


def _normalised_grad(shapes: Shapes, attributes: Attributes) -> Shape:
    return _same([_normalised([shapes[0], *shapes[2:]], attributes), shapes[1]], attributes)


def _last_axis(shapes: Shapes, attributes: Attributes) -> Shape:
    return _same(shapes, attributes)[-1:]


def reduced_axes(shape: Shape, attributes: Attributes) -> tuple[int, ...]:
    """Return the axes over which a sum runs."""
    return tuple(_axis(a, shape) for a in attributes.axes)


def _reduced(shapes: Shapes, attributes: Attributes) -> Shape:
    axes = reduced_axes(shapes[0], attributes)
    if attributes.keep_axes:
        return tuple(1 if a in axes else n for a, n in enumerate(shapes[0]))
    return tuple(n for a, n in enumerate(shapes[0]) if a not in axes)


def _loss(shapes: Shapes, attributes: Attributes) -> Shape:
    if len(shapes) == 2 and shapes[1] != shapes[0][:-1]:
        raise ValueError(
            f"cross_entropy_grad: the classes have shape {_text(shapes[1])}, "
            f"not {_text(shapes[0][:-1])}"
        )
    return shapes[0]


def _embedded(shapes: Shapes, attributes: Attributes) -> Shape:
    table, ids = shapes
    if len(table) != 2:
        raise ValueError(f"embedding: the table has {len(table)} axes, not 2")
    return (*ids, table[1])


def _embedding_grad(shapes: Shapes, attributes: Attributes) -> Shape:
    ids, grad = shapes
    if grad[:-1] != ids:
        raise ValueError(f"embedding_grad: the gradient has shape {_text(grad)}")
    return (_given(attributes.rows, "rows"), grad[-1])


def _expanded(shapes: Shapes, attributes: Attributes) -> Shape:
    axis, rows = _given(attributes.axis, "axis"), _given(attributes.rows, "rows")
    if axis > len(shapes[0]):
        raise ValueError(f"expand: a new axis {axis} of a tensor of {len(shapes[0])} axes")
    return (*shapes[0][:axis], rows, *shapes[0][axis:])


def _along(shape: Shape, attributes: Attributes) -> tuple[int, int, int]:
    axis = _axis(_given(attributes.axis, "axis"), shape)
    return axis, attributes.start or 0, _given(attributes.rows, "rows")


def _cut(shapes: Shapes, attributes: Attributes) -> Shape:
    axis, start, rows = _along(shapes[0], attributes)
    if start + rows > shapes[0][axis]:
        raise ValueError(f"slice: axis {axis} ends at {shapes[0][axis]}, not {start + rows}")
    return (*shapes[0][:axis], rows, *shapes[0][axis + 1 :])


def _padded(shapes: Shapes, attributes: Attributes) -> Shape:
    axis, start, rows = _along(shapes[0], attributes)
    if start + shapes[0][axis] > rows:
        raise ValueError(f"pad: axis {axis} needs {start + shapes[0][axis]} rows, not {rows}")
    return (*shapes[0][:axis], rows, *shapes[0][axis + 1 :])


def _joined(shapes: Shapes, attributes: Attributes) -> Shape:
    axis = _axis(_given(attributes.axis, "axis"), shapes[0])
    rest = [(*s[:axis], *s[axis + 1 :]) for s in shapes]
    _same(rest, attributes)
    return (*shapes[0][:axis], sum(s[axis] for s in shapes), *shapes[0][axis + 1 :])


def _transposed(shapes: Shapes, attributes: Attributes) -> Shape:
    return tuple(shapes[0][a] for a in permutation(shapes[0], attributes))


def permutation(shape: Shape, attributes: Attributes) -> tuple[int, ...]:
    """Return the axis of the input that becomes each axis of a transpose's output."""
    given = attributes.permutation
    if sorted(given) != list(range(len(shape))):
        raise ValueError(f"permutation {list(given)} of {len(shape)} axes")
    return given


def _gated(shapes: Shapes, attributes: Attributes) -> Shape:
    if len(shapes[0]) != 3:
        raise ValueError("moe_gate: the probabilities have the axes group, token, expert")
    return (*shapes[0], _given(attributes.capacity, "capacity"))


def _gate_grad(shapes: Shapes, attributes: Attributes) -> Shape:
    if len(shapes[0]) != 3 or shapes[1][:3] != shapes[0] or len(shapes[1]) != 4:
        raise ValueError("moe_gate_grad: the gradient has the axes group, token, expert, place")
    return shapes[0]


def _given(value: int | None, name: str) -> int:
    if value is None:
        raise ValueError(f"attributes.{name} is missing")
    return value


def _nothing(shapes: Shapes, attributes: Attributes) -> int:
    return 0


def _summands(shapes: Shapes, attributes: Attributes) -> int:
    return elements(shapes[-1])


def _product(kind: str, *attributes: str) -> Kind:
    inputs = (1, 2, 3) if kind == "einsum" else (2,)
    return Kind(inputs, _product_shape(kind), _product_work(kind), attributes)


KINDS: dict[str, Kind] = {
    "source": Kind((0,), None, _nothing),
    "variable": Kind((0,), None, _nothing),
    "matmul": _product("matmul", "transpose_a", "transpose_b"),
    "weight_grad": _product("weight_grad"),
    "einsum": _product("einsum", "equation"),
    "relu": Kind((1,), _same, None),
    "gelu": Kind((1,), _same, None),
    "tanh": Kind((1,), _same, None),
    "sigmoid": Kind((1,), _same, None),
    "positive": Kind((1,), _same, None),
    "dropout": Kind((2,), _same, None),
    "relu_grad": Kind((2,), _same, None),
    "gelu_grad": Kind((2,), _same, None),
    "tanh_grad": Kind((2,), _same, None),
    "sigmoid_grad": Kind((2,), _same, None),
    "multiply": Kind((2,), _broadcast, None),
    "add": Kind((2,), _broadcast, None),
    "subtract": Kind((2,), _broadcast, None),
    "scale": Kind((1,), _same, None, ("factor",)),
    "bias_add": Kind((2,), _bias, None, ("axis",)),
    "softmax": Kind((1,), _same, None),
    "softmax_grad": Kind((2,), _same, None),
    "layer_norm": Kind((1, 2, 3), _normalised, None),
    "layer_norm_grad": Kind((2, 3), _normalised_grad, None),
    "layer_norm_scale_grad": Kind((2,), _last_axis, _summands),
    "reduce_sum": Kind((1,), _reduced, _summands, ("axes", "keep_axes")),
    "cross_entropy_grad": Kind((1, 2), _loss, None),
    "embedding": Kind((2,), _embedded, None),
    "embedding_grad": Kind((2,), _embedding_grad, _summands, ("rows",)),
    "update": Kind((2,), _same, None),
    "expand": Kind((1,), _expanded, None, ("axis", "rows")),
    "slice": Kind((1,), _cut, _nothing, ("axis", "start", "rows")),
    "pad": Kind((1,), _padded, _nothing, ("axis", "start", "rows")),
    "concat": Kind(tuple(range(1, 65)), _joined, _nothing, ("axis",)),
    "reshape": Kind((1,), None, _nothing),
    "transpose": Kind((1,), _transposed, _nothing, ("permutation",)),
    "moe_gate": Kind((1,), _gated, None, ("capacity",)),
    "moe_gate_grad": Kind((2,), _gate_grad, None),
}
