r"""The valid signatures of every kind of operator: which labels of inputs give which of the output.

On a line of devices (one dimension of the hierarchy):

==================================  ============================================================
operator                            inputs -> output
==================================  ============================================================
source                              S(0); B
variable                            S(i) for every axis; B
product of tensors                  an axis of the output: S there in every operand that has it,
                                    B in the others -> S; a summed axis: S there in the operands
                                    that have it, B in the others -> P; P in one operand, B in
                                    the others -> P; B -> B
relu, gelu, tanh, dropout, their    all S(i) -> S(i); B -> B. Never P: f(a + b) is not f(a) + f(b)
gradients
add, subtract (aligned), scale      additionally P, ..., P -> P
multiply (aligned, ours)            S(i) -> S(i); (P, B) -> P; (B, P) -> P; B -> B
bias_add at axis c                  (S(i), B) -> S(i) for i != c; (S(c), S(0)) -> S(c); B -> B
softmax, softmax_grad               S(i) -> S(i) for all axes but the last; B -> B
layer_norm and gradient (ours)      as softmax; scale and bias B
layer_norm_scale_grad (ours)        (S(i), S(i)) -> P for all axes but the last; B -> B
reduce_sum over axes r              S(r) -> P; S(i) -> S(i) renumbered; P -> P; B -> B
cross_entropy_grad                  S(0) -> S(0); B -> B
embedding (ours)                    (B, S(i)) -> S(i); (S(1), B) -> S(last); (S(0), B) -> P: rows
                                    that a device lacks count as zero; (P, B) -> P; B -> B
embedding_grad (ours)               (S(i), S(i)) -> P; (B, S(last)) -> S(1); (B, B) -> S(0): each
                                    device its own rows; (B, P) -> P; B -> B
update                              (S(i), S(i)) -> S(i); B -> B
slice, pad, concat (ours)           S(i) -> S(i) for i other than the axis; P, ..., P -> P; B -> B
expand by a new axis (ours)         S(i) -> S(i) renumbered; B -> S(new); P -> P; B -> B
reshape (ours)                      S(i) -> S(j) where slices stay slices: i and j lead groups of
                                    axes of equal size, and their extents are divisible (equal
                                    groups of one axis: always); P -> P; B -> B
transpose (ours)                    S(i) -> S(j); P -> P; B -> B
moe_gate and gradient (ours)        S(0) -> S(0): tokens compete for places in their group; B -> B
==================================  ============================================================

For products of two matrices these are the six rows of the paper's table, in its order: m, n, k,
(P, B), (B, P), B. On a hierarchy of several dimensions the signatures are all products of those for
each dimension. A signature is dropped if some axis has fewer elements than slices over all
dimensions. `tests/models/oneflow_sbp/subproblems/test_execution.py` executes each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from .labels import BROADCAST as B
from .labels import PARTIAL as P
from .labels import Label, Shape, fits, label_text, split, splits
from .operators import check_shapes
from .shapes import Attributes, channel_axis, equation_of, operand_axes, permutation, reduced_axes

#: Labels of the inputs and of the output on one dimension of the hierarchy.
Row = tuple[tuple[str, ...], str]


@dataclass(frozen=True)
class Signature:
    """The labels of an operator's inputs and of its output."""

    inputs: tuple[Label, ...]
    output: Label

    def __str__(self) -> str:
        return f"({', '.join(map(label_text, self.inputs))}) -> {label_text(self.output)}"


@lru_cache(maxsize=4096)
def signature_list(
    kind: str,
    attributes: Attributes,
    shapes: tuple[Shape, ...],
    shape: Shape,
    hierarchy: tuple[int, ...],
) -> tuple[Signature, ...]:
    """Return the valid signatures of an operator on a hierarchy of devices, all-broadcast last.

    Parameters
    ----------
    kind : str
        A name of `operators.KINDS`.
    attributes : Attributes
    shapes : tuple of Shape
        Shapes of the inputs.
    shape : Shape
        Shape of the output.
    hierarchy : tuple of int
        Devices in every dimension, the outer first.

    Raises
    ------
    ValueError
        If the shapes do not fit the kind.
    """
    check_shapes(kind, shapes, shape, attributes)
    rows = rows_of(kind, shapes, shape, attributes)
    tensors = (*shapes, shape)
    found = []
    for chosen in product(rows, repeat=len(hierarchy)):
        inputs = tuple(tuple(row[0][slot] for row in chosen) for slot in range(len(shapes)))
        candidate = Signature(inputs, tuple(row[1] for row in chosen))
        labels = (*inputs, candidate.output)
        fitting = all(fits(x, s, hierarchy) for x, s in zip(labels, tensors, strict=True))
        if fitting and (kind != "reshape" or _stays_sliced(candidate, shapes[0], shape, hierarchy)):
            found.append(candidate)
    return tuple(found)


def rows_of(kind: str, shapes: Sequence[Shape], shape: Shape, attributes: Attributes) -> list[Row]:
    """Return an operator's signatures on one dimension of any number of devices."""
    rows = list(_rows(kind, shapes, shape, attributes))
    return [*rows, ((B,) * len(shapes), B)]


def _rows(
    kind: str, shapes: Sequence[Shape], shape: Shape, attributes: Attributes
) -> Iterator[Row]:
    """Yield the rows of the table but the last, all-broadcast."""
    inputs = len(shapes)
    if kind == "source":
        yield (), split(0)
    elif kind == "variable":
        yield from (((), split(i)) for i in range(len(shape)))
    elif kind in ("matmul", "weight_grad", "einsum"):
        yield from _product(equation_of(kind, [len(s) for s in shapes], attributes))
    elif kind in _ALONG_ALL_AXES:
        yield from (((split(i),) * inputs, split(i)) for i in range(len(shape)))
        if kind == "scale":
            yield (P,), P
    elif kind in ("add", "subtract", "multiply"):
        yield from _aligned(kind, shapes, shape)
    elif kind == "bias_add":
        c = channel_axis(shape, attributes)
        for i in range(len(shape)):
            yield (split(i), split(0) if i == c else B), split(i)
    elif kind in ("softmax", "softmax_grad"):
        yield from (((split(i),) * inputs, split(i)) for i in range(len(shape) - 1))
    elif kind == "layer_norm":
        yield from (((split(i), *(B,) * (inputs - 1)), split(i)) for i in range(len(shape) - 1))
    elif kind == "layer_norm_grad":
        yield from (
            ((split(i), split(i), *(B,) * (inputs - 2)), split(i)) for i in range(len(shape) - 1)
        )
    elif kind == "layer_norm_scale_grad":
        yield from (((split(i), split(i)), P) for i in range(len(shapes[0]) - 1))
    elif kind == "reduce_sum":
        yield from _reduction(shapes[0], attributes)
    elif kind == "cross_entropy_grad":
        yield (split(0),) * inputs, split(0)
    elif kind == "embedding":
        ids = len(shapes[1])
        yield from (((B, split(i)), split(i)) for i in range(ids))
        yield (split(1), B), split(ids)
        yield (split(0), B), P
        yield (P, B), P
    elif kind == "embedding_grad":
        ids = len(shapes[0])
        yield from (((split(i), split(i)), P) for i in range(ids))
        yield (B, split(ids)), split(1)
        yield (B, B), split(0)
        yield (B, P), P
    elif kind in ("slice", "pad", "concat"):
        yield from (
            ((split(i),) * inputs, split(i)) for i in range(len(shape)) if i != attributes.axis
        )
        yield (P,) * inputs, P
    elif kind == "expand":
        new = attributes.axis or 0
        yield from (((split(i),), split(i + (i >= new))) for i in range(len(shapes[0])))
        yield (B,), split(new)
        yield (P,), P
    elif kind == "reshape":
        yield from (((split(i),), split(j)) for i, j, _ in _leaders(shapes[0], shape))
        yield (P,), P
    elif kind == "transpose":
        yield from (
            ((split(i),), split(j)) for j, i in enumerate(permutation(shapes[0], attributes))
        )
        yield (P,), P
    elif kind in ("moe_gate", "moe_gate_grad"):
        yield (split(0),) * inputs, split(0)
    else:
        raise ValueError(f"{kind!r} is not a known kind of operator")


#: Operators element by element on operands of one shape.
_ALONG_ALL_AXES = frozenset(
    {"relu", "gelu", "tanh", "sigmoid", "positive", "dropout", "update", "scale"}
    | {"relu_grad", "gelu_grad", "tanh_grad", "sigmoid_grad"}
)


def _product(equation: str) -> Iterator[Row]:
    """Yield the rows of a product: its output's axes, its summed ones, then a partial operand."""
    operands, out = operand_axes(equation)

    def along(letter: str) -> tuple[str, ...]:
        return tuple(split(axes.index(letter)) if letter in axes else B for axes in operands)

    yield from ((along(letter), split(j)) for j, letter in enumerate(out))
    summed = dict.fromkeys(letter for axes in operands for letter in axes if letter not in out)
    yield from ((along(letter), P) for letter in summed)
    for k in range(len(operands)):
        yield tuple(P if j == k else B for j in range(len(operands))), P


def _aligned(kind: str, shapes: Sequence[Shape], shape: Shape) -> Iterator[Row]:
    """Yield the rows of an operator whose operands are aligned at their last axes."""
    for i, extent in enumerate(shape):
        own = [i - len(shape) + len(s) for s in shapes]
        yield (
            tuple(
                split(a) if a >= 0 and s[a] == extent else B
                for a, s in zip(own, shapes, strict=True)
            ),
            split(i),
        )
    if kind == "multiply":
        yield from (((P, B), P), ((B, P), P))
    else:
        yield (P, P), P


def _reduction(shape: Shape, attributes: Attributes) -> Iterator[Row]:
    axes = reduced_axes(shape, attributes)
    yield from (((split(i),), P) for i in sorted(set(axes)))
    kept = [i for i in range(len(shape)) if i not in axes]
    for j, i in enumerate(kept):
        yield (split(i),), split(i if attributes.keep_axes else j)
    yield (P,), P


def _leaders(shape: Shape, target: Shape) -> Iterator[tuple[int, int, bool]]:
    """Yield (axis, its axis after a reshape, True if it is the same axis) where slices stay slices.

    The axes of both shapes are cut into the finest groups of equal products; the first axes of two
    groups that belong together vary slowest. Axes of one element are left out.
    """
    axes = [i for i, n in enumerate(shape) if n > 1]
    targets = [j for j, n in enumerate(target) if n > 1]
    i = j = 0
    while i < len(axes):
        first, second, a, b = i + 1, j + 1, shape[axes[i]], target[targets[j]]
        while a != b:
            if a < b:
                a, first = a * shape[axes[first]], first + 1
            else:
                b, second = b * target[targets[second]], second + 1
        yield axes[i], targets[j], first == i + 1 and second == j + 1
        i, j = first, second


def _stays_sliced(
    signature: Signature, shape: Shape, target: Shape, hierarchy: Sequence[int]
) -> bool:
    """Return True if split leaders of unequal groups are divisible by their numbers of slices."""
    same = {i: alone for i, _, alone in _leaders(shape, target)}
    end = {i: j for i, j, _ in _leaders(shape, target)}
    return all(
        same[i] or (shape[i] % slices == 0 and target[end[i]] % slices == 0)
        for i, slices in splits(signature.inputs[0], hierarchy).items()
    )
