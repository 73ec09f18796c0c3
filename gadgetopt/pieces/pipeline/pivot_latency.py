r"""The latency of a pipeline around a pivot: an estimate, not a makespan.

Stages and links form one sequence :math:`q = 0, \dots, 2S - 2` with the times :math:`F_q, B_q` of a
microbatch and :math:`AR_q` of the AllReduce (0 on links). If the pivot Q never idles between its
first forward and its last backward block, the latency is

.. math::
    T_w = \sum_{a \le Q} F_a, \quad T_s = (M - 1)(F_Q + B_Q), \quad
    T_e = \max_s \big(AR_s + E_s(Q)\big),

.. math::
    E_s(Q) = \sum_{a=s}^{Q} B_a \ (s \le Q), \qquad
    E_s(Q) = -\sum_{a=Q+1}^{s-1} B_a \ (s > Q).

That ending is "derived"; "printed" has :math:`-\sum_{a=Q}^{s} B_a` for s > Q. With the maximum over
:math:`s \le Q` alone, the latency is a lower bound for every Q, the head, load and tail of Q. With
s > Q, or with a pivot that does idle, it is no bound in either direction.

The pivot is chosen from the last stage to the first: s replaces Q if

.. math:: (M-1)(F_s + B_s) > (M-1)(F_Q + B_Q) + \sum_{a=s+1}^{Q-1} (F_a + B_a).

That rule is "paper". With the upper limit Q instead of Q - 1, the comparison is that of the
latencies without AllReduce. "max" is the Q of the largest lower bound, "slowest" that of the
largest F + B, the first of equal ones.

The slides of the planner's author (HPGO, the planner's earlier name) have two latencies, both with
the slowest Q. The first is the one above with the "derived" ending. The later one, ending "slides",
adds what lies behind the pivot, with n the last position and stages :math:`s` alone,

.. math::
    R = \sum_{a=Q+1}^{n} (F_a + B_a) - (n - Q) F_Q, \qquad E_s(Q) = R + \sum_{a=s}^{Q} B_a
    \ (s \le Q),

.. math::
    E_s(Q) = R - (n - s) B_Q + \sum_{a=Q+1}^{s} F_a + B_s \ (s > Q).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.tolerance import Number

PivotRule = Literal["paper", "max", "slowest"]
Ending = Literal["derived", "printed", "slides"]


def latency_s(
    fwd: Sequence[Number],
    bwd: Sequence[Number],
    reduce_s: Sequence[Number],
    microbatches: int,
    pivot: int,
    ending: Ending = "derived",
) -> Number:
    """Return the latency with a pivot.

    Parameters
    ----------
    fwd, bwd, reduce_s : sequence of float, (2S - 1,)
        F, B and AR of stages (even positions) and links (odd ones).
    microbatches : int
        M.
    pivot : int
        Q.
    ending : "derived", "printed" or "slides"
    """
    warm_up = sum(fwd[: pivot + 1])
    steady = (microbatches - 1) * (fwd[pivot] + bwd[pivot])
    if ending == "slides":
        later: Number = max(_slides_endings(fwd, bwd, reduce_s, pivot))
        return warm_up + steady + later
    tail: Number = 0
    last: Number = reduce_s[pivot] + bwd[pivot]
    for s in range(pivot, -1, -1):
        tail += bwd[s]
        last = max(last, reduce_s[s] + tail)
    ahead: Number = 0 if ending == "derived" else bwd[pivot]
    for s in range(pivot + 1, len(fwd)):
        if ending == "printed":
            ahead += bwd[s]
        last = max(last, reduce_s[s] - ahead)
        if ending == "derived":
            ahead += bwd[s]
    return warm_up + steady + last


def _slides_endings(fwd: Any, bwd: Any, reduce_s: Any, pivot: int) -> list[Any]:
    """Return AR_s + E_s of the slides' later latency for every stage, of numbers or of arrays."""
    n = len(fwd) - 1
    rest = sum(fwd[pivot + 1 :]) + sum(bwd[pivot + 1 :]) - (n - pivot) * fwd[pivot]
    return [
        rest + reduce_s[s] + sum(bwd[s : pivot + 1])
        if s <= pivot
        else rest + reduce_s[s] - (n - s) * bwd[pivot] + sum(fwd[pivot + 1 : s + 1]) + bwd[s]
        for s in range(0, n + 1, 2)
    ]


def head_load_tail_s(
    fwd: Sequence[Number],
    bwd: Sequence[Number],
    reduce_s: Sequence[Number],
    microbatches: int,
) -> list[Number]:
    r"""Return the lower bound :math:`L_Q` of every Q: what comes before, its work, what follows."""
    bounds: list[Number] = []
    head: Number = 0
    tail: Number = 0
    for f, b, a in zip(fwd, bwd, reduce_s, strict=True):
        bounds.append(head + microbatches * (f + b) + max(tail, a))
        head += f
        tail = b + max(tail, a)
    return bounds


def pivot_of(
    fwd: Sequence[Number],
    bwd: Sequence[Number],
    reduce_s: Sequence[Number],
    microbatches: int,
    rule: PivotRule = "paper",
) -> int:
    """Return the pivot of a rule; of equal ones of "max" the last, of "slowest" the first."""
    if rule == "slowest":
        return max(range(len(fwd)), key=lambda q: (fwd[q] + bwd[q], -q))
    if rule == "max":
        bounds = head_load_tail_s(fwd, bwd, reduce_s, microbatches)
        return max(range(len(bounds)), key=lambda q: (bounds[q], q))
    pivot = len(fwd) - 1
    between: Number = 0
    for s in range(len(fwd) - 2, -1, -1):
        steady = (microbatches - 1) * (fwd[pivot] + bwd[pivot])
        if (microbatches - 1) * (fwd[s] + bwd[s]) > steady + between:
            pivot, between = s, 0
        else:
            between += fwd[s] + bwd[s]
    return pivot


def latencies_s(
    fwd: Sequence[Floats],
    bwd: Sequence[Floats],
    reduce_s: Sequence[Floats],
    microbatches: int,
    rule: PivotRule = "paper",
    ending: Ending = "derived",
) -> Floats:
    """Return the latencies of many plans of equally many stages, with the pivots of a rule.

    Parameters
    ----------
    fwd, bwd, reduce_s : sequence of array, (2S - 1, number of plans)
    microbatches, rule, ending
        See `latency_s` and `pivot_of`.
    """
    last = len(fwd) - 1
    head = np.zeros_like(fwd[0])
    tail = np.zeros_like(fwd[0])
    start, left = [], []  # T_w + T_s, and T_e of the positions up to the pivot
    for f, b, a in zip(fwd, bwd, reduce_s, strict=True):
        head = head + f
        start.append(head + (microbatches - 1) * (f + b))
        tail = b + np.maximum(tail, a)
        left.append(tail)
    right = [np.full_like(head, -np.inf)]  # T_e of the positions after the pivot
    for q in range(last, 0, -1):
        right.append(np.maximum(reduce_s[q], right[-1] - bwd[q]))
    if ending == "printed":
        right = [right[0]]
        for q in range(last, 0, -1):
            right.append(np.maximum(reduce_s[q], right[-1]) - bwd[q])
        right = [r - b for r, b in zip(right, reversed(bwd), strict=True)]
    values = np.array(start) + np.maximum(np.array(left), np.array(right[::-1]))
    if ending == "slides":
        values = np.array(start)
        for q in range(last + 1):
            values[q] += np.max(_slides_endings(fwd, bwd, reduce_s, q), axis=0)
    if rule == "max":
        bounds = np.array(start) + np.array(left)
        pivots = last - np.argmax(bounds[::-1], axis=0)
    elif rule == "slowest":
        pivots = np.argmax(np.array(fwd) + np.array(bwd), axis=0)
    else:
        pivots = _paper_pivots(fwd, bwd, microbatches)
    chosen: Floats = np.take_along_axis(values, pivots[None], axis=0)[0]
    return chosen


def _paper_pivots(fwd: Sequence[Floats], bwd: Sequence[Floats], microbatches: int) -> Ints:
    last = len(fwd) - 1
    pivots = np.full(len(fwd[0]), last)
    steady = (microbatches - 1) * (fwd[last] + bwd[last])
    between = np.zeros_like(fwd[0])
    for s in range(last - 1, -1, -1):
        own = (microbatches - 1) * (fwd[s] + bwd[s])
        moved = own > steady + between
        pivots = np.where(moved, s, pivots)
        steady = np.where(moved, own, steady)
        between = np.where(moved, 0.0, between + fwd[s] + bwd[s])
    return pivots
