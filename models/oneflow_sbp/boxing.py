r"""Boxing: what it costs to turn one label of a tensor into another, in bytes over all devices.

On a line of p devices, for a tensor of T bytes (the paper's table), and between two groups of
:math:`p_1` and :math:`p_2` devices:

==============  ==================================  =======================
from -> to      same group                          to another group
==============  ==================================  =======================
S(i) -> S(i)    0                                   T
S(i) -> S(j)    (p-1)/p T, all-to-all               T
S -> B          (p-1) T, all-gather                 :math:`p_2 T`
S -> P          0, filled up with zeros             T
B -> S          0, sliced                           T
B -> B          0                                   :math:`p_2 T`
B -> P          0, one copy kept                    T
P -> S          (p-1) T, reduce-scatter             :math:`p_1 T`
P -> B          2(p-1) T, all-reduce                :math:`(p_1 + p_2 - 1) T`
P -> P          0                                   :math:`p_1 T`
==============  ==================================  =======================

The table "oneflow" of the released source charges 1 for B -> S within a group, and by default
forbids to turn S or B into P, and P into P of another group.

On a hierarchy of two dimensions one step changes the part of one dimension, in every group of
devices along it: it costs what the table says for :math:`h_o` devices and the bytes T' that such
groups hold together, which are T if the other part is a split and :math:`h_d T` otherwise. The
outer part of a tensor split along the same axis twice cannot be changed in one step, nor become so:
the slices are interleaved. The cost of a conversion is that of the shortest path of such steps over
all labels that the tensor's shape allows.

Between groups a tensor costs :math:`(q + r - 1) T` (reconstructed), with q devices that
hold a partial value of each element and r that receive a copy: the table for lines of devices.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import count
from typing import Any, Literal

import numpy as np

from .labels import BROADCAST, PARTIAL, Label, Shape, all_labels, axis_of

#: What turning S or B into P costs: as the table says; nothing; 1; 4 T (p1 + p2); not allowed.
IntoPartial = Literal["table", "free", "unit", "penalty", "forbidden"]

_PART = r"(S[0-9]*|B|P)"
_FORBIDDEN = re.compile(f"{_PART}->{_PART}")


@dataclass(frozen=True)
class BoxingRules:
    """The rules of conversions.

    Attributes
    ----------
    table : "paper" or "oneflow"
    forbidden : tuple of str
        Conversions of a part that no step may make, such as "B->P", "S->B" or "S0->S1".
    into_partial : str
        What turning S or B into P costs; "table" is "free" in the paper's and "forbidden" in
        OneFlow's table. Unless it is free, partial values do not change groups as such for free.

    Raises
    ------
    ValueError
        If a forbidden conversion is not written so.
    """

    table: Literal["paper", "oneflow"] = "paper"
    forbidden: tuple[str, ...] = ()
    into_partial: IntoPartial = "table"

    def __post_init__(self) -> None:
        for i, text in enumerate(self.forbidden):
            if not _FORBIDDEN.fullmatch(text):
                raise ValueError(
                    f"forbidden_conversions[{i}]: {text!r} is not one such as 'B->P' or 'S0->S1'"
                )

    @property
    def partial_rule(self) -> str:
        """The rule for conversions into P, with "table" resolved."""
        if self.into_partial != "table":
            return self.into_partial
        return "free" if self.table == "paper" else "forbidden"

    def forbids(self, a: str, b: str) -> bool:
        """Return True if part a must not be turned into part b."""
        return any(
            f"{left}->{right}" in self.forbidden for left in (a, a[0]) for right in (b, b[0])
        )


@dataclass(frozen=True)
class Step:
    """One conversion of a tensor's label.

    Attributes
    ----------
    source, target : Label
    collective : str
        What moves the bytes, or what each device does by itself where none moves.
    dimension : int or None
        The dimension of the hierarchy along which it runs; None between groups.
    cost_bytes : Fraction
    """

    source: Label
    target: Label
    collective: str
    dimension: int | None
    cost_bytes: Fraction


#: Between any two parts: what moves the bytes, or what each device does by itself.
_COLLECTIVES = {
    ("S", "S"): "all_to_all",
    ("S", "B"): "all_gather",
    ("S", "P"): "zero_fill",
    ("B", "S"): "slice",
    ("B", "P"): "keep_one",
    ("P", "S"): "reduce_scatter",
    ("P", "B"): "all_reduce",
}
#: Conversions that every device does by itself, and what moves bytes between groups.
LOCAL = frozenset({"zero_fill", "slice", "keep_one"})
BETWEEN_GROUPS = "transfer"


def step_cost(a: str, b: str, devices: int, size_bytes: int, rules: BoxingRules) -> Fraction | None:
    """Return the bytes that turn part a into part b on a line of devices; None if forbidden."""
    if a == b:
        return Fraction(0)
    if rules.forbids(a, b):
        return None
    if b == PARTIAL:
        return _into_partial(size_bytes, 2 * devices, rules)
    if a == PARTIAL:
        times = 2 if b == BROADCAST else 1
        return Fraction(times * (devices - 1) * size_bytes)
    if a == BROADCAST:
        return Fraction(1 if rules.table == "oneflow" else 0)
    if b == BROADCAST:
        return Fraction((devices - 1) * size_bytes)
    return Fraction((devices - 1) * size_bytes, devices)


def _into_partial(
    size_bytes: int, devices: int, rules: BoxingRules, free: int = 0
) -> Fraction | None:
    costs = {"free": free, "unit": 1, "penalty": 4 * size_bytes * devices}
    cost = costs.get(rules.partial_rule)
    return None if cost is None else Fraction(cost)


def transfer_cost(
    a: Label,
    b: Label,
    source: Sequence[int],
    target: Sequence[int],
    size_bytes: int,
    rules: BoxingRules,
) -> Fraction | None:
    """Return the bytes that move a tensor to another group of devices; None if forbidden.

    Parameters
    ----------
    a, b : Label
        In the source's and in the target's group.
    source, target : sequence of int
        The grids of the two groups.
    size_bytes : int
        Bytes of the tensor.
    rules : BoxingRules
    """
    if len(source) == len(target) and any(map(rules.forbids, a, b)):
        return None
    addends = math.prod(h for part, h in zip(a, source, strict=True) if part == PARTIAL)
    copies = math.prod(h for part, h in zip(b, target, strict=True) if part == BROADCAST)
    moved = (addends + copies - 1) * size_bytes
    if PARTIAL in b:
        return _into_partial(size_bytes, math.prod(source) + math.prod(target), rules, free=moved)
    return Fraction(moved)


def boxing_cost(
    rules: BoxingRules,
    have: Label,
    want: Label,
    shape: Shape,
    tensor_bytes: int,
    source: Sequence[int],
    target: Sequence[int],
    *,
    same_group: bool,
) -> Fraction | None:
    """Return the least bytes that turn a label into another; None if it is impossible.

    Parameters
    ----------
    rules : BoxingRules
    have, want : Label
    shape : Shape
        The tensor's extents: what labels it may take on the way.
    tensor_bytes : int
    source, target : sequence of int
        Devices in every dimension of the group that has the tensor and of the one that wants it.
    same_group : bool
        True if these are the same devices; groups of the same devices that are arranged otherwise
        count as different ones.
    """
    if not same_group or tuple(source) != tuple(target):
        return transfer_cost(have, want, source, target, tensor_bytes, rules)
    if len(source) == 1:
        return step_cost(have[0], want[0], source[0], tensor_bytes, rules)
    return shortest_paths(shape, tensor_bytes, tuple(source), rules).cost(have, want)


def conversion(
    rules: BoxingRules,
    have: Label,
    want: Label,
    shape: Shape,
    tensor_bytes: int,
    source: Sequence[int],
    target: Sequence[int],
    *,
    same_group: bool,
) -> tuple[Step, ...] | None:
    """Return the steps that `boxing_cost` charges, as few as possible; None if there are none."""
    if same_group and tuple(source) == tuple(target):
        return route(have, want, shape, tensor_bytes, tuple(source), rules)
    moved = transfer_cost(have, want, source, target, tensor_bytes, rules)
    return None if moved is None else (Step(have, want, BETWEEN_GROUPS, None, moved),)


@lru_cache(maxsize=8192)
def route(
    a: Label,
    b: Label,
    shape: Shape,
    size_bytes: int,
    hierarchy: tuple[int, ...],
    rules: BoxingRules,
) -> tuple[Step, ...] | None:
    """Return the steps of a cheapest conversion within a group, as few as possible, or None."""
    if a == b:
        return ()
    # On a line every conversion is one step, as the table has it.
    labels = all_labels(shape, hierarchy) if len(hierarchy) > 1 else [b]
    serial = count()
    first: tuple[Step, ...] = ()
    heap = [(Fraction(0), 0, next(serial), a, first)]
    done = set()
    while heap:
        cost, hops, _, label, steps = heapq.heappop(heap)
        if label == b:
            return steps
        if label in done:
            continue
        done.add(label)
        for other in labels:
            step = None if other in done else one_step(label, other, size_bytes, hierarchy, rules)
            if step is not None:
                entry = (cost + step.cost_bytes, hops + 1, next(serial), other, (*steps, step))
                heapq.heappush(heap, entry)
    return None


def one_step(
    a: Label, b: Label, size_bytes: int, hierarchy: Sequence[int], rules: BoxingRules
) -> Step | None:
    """Return the step between two labels that differ in one dimension, None if there is none."""
    changed = [d for d in range(len(hierarchy)) if a[d] != b[d]]
    if len(changed) != 1:
        return None
    o = changed[0]
    if any(_interleaved(label, o) for label in (a, b)):
        return None
    replicas = math.prod(
        hierarchy[d] for d in range(len(hierarchy)) if d != o and axis_of(a[d]) is None
    )
    cost = step_cost(a[o], b[o], hierarchy[o], replicas * size_bytes, rules)
    if cost is None:
        return None
    return Step(a, b, _COLLECTIVES[a[o][0], b[o][0]], o, cost)


def _interleaved(label: Label, dimension: int) -> bool:
    """Return True if an inner dimension cuts the slices of this dimension again."""
    return axis_of(label[dimension]) is not None and label[dimension] in label[dimension + 1 :]


@dataclass(frozen=True)
class ShortestPaths:
    """The costs of all conversions of a tensor within a group.

    Attributes
    ----------
    index : dict of Label to int
    scaled_bytes : numpy.ndarray of Python numbers, shape (labels, labels)
        Bytes times `denominator`, infinite where there is no way.
    denominator : int
    """

    index: dict[Label, int]
    scaled_bytes: np.ndarray[Any, np.dtype[np.object_]]
    denominator: int

    def cost(self, a: Label, b: Label) -> Fraction | None:
        """Return the bytes of a conversion, None if there is no way."""
        scaled = self.scaled_bytes[self.index[a], self.index[b]]
        return None if scaled == math.inf else Fraction(scaled, self.denominator)


@lru_cache(maxsize=1024)
def shortest_paths(
    shape: Shape, size_bytes: int, hierarchy: tuple[int, ...], rules: BoxingRules
) -> ShortestPaths:
    """Return the costs of all conversions of a tensor within a group (Floyd and Warshall)."""
    labels = all_labels(shape, hierarchy)
    denominator = math.prod(hierarchy)
    paths = np.full((len(labels), len(labels)), math.inf, dtype=object)
    for i, a in enumerate(labels):
        paths[i, i] = 0
        for j, b in enumerate(labels):
            step = one_step(a, b, size_bytes, hierarchy, rules)
            if step is not None:
                paths[i, j] = int(step.cost_bytes * denominator)
    for k in range(len(labels)):
        paths = np.minimum(paths, paths[:, k, None] + paths[k])
    return ShortestPaths({label: i for i, label in enumerate(labels)}, paths, denominator)
