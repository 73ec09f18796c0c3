"""The linear relaxation rounded."""

from __future__ import annotations

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import MipInstance
from ..subproblems.points import Points


@method(kind="baseline")
def round_lp(instance: MipInstance, limits: Limits) -> MethodOutcome:
    """The relaxation's integers rounded to the nearest, the rest optimised exactly.

    There is no solution if the rounded integers admit none.

    Parameters
    ----------
    instance : MipInstance
    limits : Limits
    """
    points = Points(instance, Clock(limits))
    values = points.relaxed()
    if values is not None:
        points.offer(points.rounded(values))
    return points.outcome()
