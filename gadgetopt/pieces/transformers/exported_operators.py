"""Floating-point operations of exported operators: two for a multiply-add of products.

As PyTorch's own counter: what works element by element counts nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from .exported_program import Call, TensorOf

_CONVOLUTIONS = ("convolution", "conv1d", "conv2d", "conv3d")
#: Operators that give a tensor another shape.
RESHAPED = ("view", "reshape", "_unsafe_view", "flatten", "unflatten", "unsqueeze", "squeeze")
#: Operators whose results are the numbers of their first argument, in its memory.
VIEWS = frozenset(RESHAPED) | frozenset(
    ("transpose", "permute", "t", "slice", "select", "narrow", "expand", "alias", "detach")
)
VIEWS |= frozenset(("chunk", "split", "split_with_sizes", "unbind", "contiguous"))


def flops_of(call: Call, tensors: Mapping[str, TensorOf]) -> int:
    """Return the operations of a call, 0 if it is no product."""
    kind, shapes = call.operator, [tensors[name].shape for name in call.tensors]
    out = tensors[call.outputs[0]].elements if call.outputs else 0
    if kind == "linear":
        return 2 * out * shapes[0][-1]
    if kind in ("mm", "bmm", "matmul"):
        return 2 * out * shapes[0][-1]
    if kind in ("addmm", "baddbmm"):
        return 2 * out * shapes[1][-1]
    if kind == "einsum":
        return 2 * _einsum_extents(str(call.arguments.get("equation", "")), shapes)
    if kind == "scaled_dot_product_attention":
        query, key = shapes[0], shapes[1]
        return 2 * key[-2] * (math.prod(query) + out)
    if kind in _CONVOLUTIONS:
        # Of every element of the output, one filter: its input channels and its window.
        return 2 * out * math.prod(shapes[1][1:])
    return 0


def products_of(call: Call) -> tuple[str, ...]:
    """Return the operands of a product whose gradients are products of the same size."""
    if call.operator in ("addmm", "baddbmm"):
        return call.tensors[1:3]
    if call.operator == "scaled_dot_product_attention":
        return call.tensors[:3]
    if call.operator == "einsum":
        return call.tensors
    return call.tensors[:2]


def _einsum_extents(equation: str, shapes: list[tuple[int, ...]]) -> int:
    extents: dict[str, int] = {}
    operands = equation.replace(" ", "").partition("->")[0].split(",")
    for axes, shape in zip(operands, shapes, strict=False):
        extents.update(zip(axes, shape, strict=False))
    return math.prod(extents.values())
