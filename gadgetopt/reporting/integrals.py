"""The primal-dual integral of a run: its gap over time in seconds at a gap of 100 %.

The definitions are those of Berthold (Measuring the impact of primal heuristics, 2013), with the
bound in the place of the optimum.
Two solvers that close the gap at the same time differ in how soon it was small. The integral says
so in one number, the smaller the better, and needs no target.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from gadgetopt.numbers.tolerance import Number, agrees, as_double
from gadgetopt.runs.comparison import Entry
from gadgetopt.system.result import Status, TracePoint

#: Statuses of runs that leave nothing open, without a solution or a bound.
_SETTLED = (Status.INFEASIBLE, Status.UNBOUNDED)


def primal_dual_gap(incumbent: Number | None, bound: Number | None) -> float:
    r"""Return the gap after Berthold, between 0 and 1.

    It is :math:`|U - L| / \max(|U|, |L|)` for the incumbent :math:`U` and the bound :math:`L`, 0
    where they agree, and 1 where one is missing or their signs differ. Unlike other gaps it is
    defined for objectives of any sign.
    """
    if incumbent is None or bound is None:
        return 1.0
    if agrees(incumbent, bound):
        return 0.0
    high, low = as_double(incumbent), as_double(bound)
    if not math.isfinite(high) or not math.isfinite(low) or high * low < 0:
        return 1.0
    return abs(high - low) / max(abs(high), abs(low))


def primal_dual_integral(trace: Sequence[TracePoint], end_s: float) -> float:
    """Return the integral of the gap from the start to `end_s`, in seconds.

    Parameters
    ----------
    trace : sequence of TracePoint
        What the run knew from each moment on; nothing before the first.
    end_s : float
    """
    ordered = sorted((p for p in trace if p.time_s < end_s), key=lambda p: p.time_s)
    moments = [0.0, *(p.time_s for p in ordered), end_s]
    gaps = [1.0, *(primal_dual_gap(p.incumbent, p.bound) for p in ordered)]
    return math.fsum(
        gap * (after - before) for gap, (before, after) in zip(gaps, pairwise(moments), strict=True)
    )


def integral_of(entry: Entry, trace: Sequence[TracePoint] | None = None) -> float | None:
    """Return the primal-dual integral of a run up to its time limit, or its end without one.

    Incumbents and bounds are as the run reported them; from its end on those that were checked
    count, and a run that proved its instance infeasible or unbounded has no gap. None if the run's
    trace was not read. `trace` stands for that of the result.
    """
    r = entry.result
    points = r.trace if trace is None else trace
    if r.objective is not None and not points:
        return None
    end_s = r.time_s if entry.limits.time_s is None else entry.limits.time_s
    told = [p for p in points if p.time_s < r.time_s]
    settled = r.status in _SETTLED
    final = TracePoint(r.time_s, 0, 0) if settled else TracePoint(r.time_s, r.objective, r.bound)
    return primal_dual_integral([*told, final], end_s)
