"""The trees of A1 with the rates that it gave them."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.exact_plans import RatedTrees
from ..algorithms.forest_packing import packed, scheduled
from ..instance import ForestPackingInstance
from ..subproblems.price_oracles import make_oracle


@method(kind="approximation", reference="A1, scaled by the congestion or by the theorem")
def unpolished_packing(
    instance: ForestPackingInstance,
    limits: Limits,
    *,
    eps: float = 0.1,
    scaling: Literal["congestion", "theory"] = "congestion",
) -> MethodOutcome:
    r"""The trees of multiplicative weights with the rates that they got there.

    Return trees of total rate :math:`R \ge (1-\varepsilon)^2 R^*`, and a bound.

    Algorithm A1 alone, with the schedule of A2: the same trees, rates and roots as `plain` without
    its pruning, tested. No tree is dropped, and no linear program solved.

    Parameters
    ----------
    instance : ForestPackingInstance
    limits : Limits
        `time_s` ends the packing early; plan and bound are then those found so far.
    eps : float, default 0.1
        Accuracy, 0 < eps < 1.
    scaling : "congestion" or "theory", default "congestion"
        Divide the rates found by their congestion, which is never worse, or, as the theorem does,
        by :math:`\log_{1+\varepsilon}((1+\varepsilon)/\delta)`; the packing then ends by the
        theorem alone.

    Raises
    ------
    ValueError
        If `eps` is not between 0 and 1, or `scaling` neither of the two.
    ModelRefused
        If switches copy and sum for more than ten workers.
    """
    if scaling not in ("congestion", "theory"):
        raise ValueError(f"scaling: {scaling!r}, expected 'congestion' or 'theory'")
    congested = scaling == "congestion"
    clock = Clock(limits)
    with clock.phase("packing"):
        oracle = make_oracle(instance)
        packing = packed(oracle, clock.limits(), eps, 0.0 if congested else None)
    scale = packing.rho if congested else packing.theory_scale
    plan = RatedTrees(packing.trees, np.array(packing.amounts) / (scale or 1.0))
    return scheduled(instance, oracle, packing, plan, clock, fill=congested)
