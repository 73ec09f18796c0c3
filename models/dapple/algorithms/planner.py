r"""DAPPLE's planner: the plan of the least latency around a pivot, and early-backward scheduling.

.. math::
    T_w = \sum_{a=0}^{Q} F_a, \quad T_s = (M-1)(F_Q + B_Q), \quad
    T_e = \max_s \big(AR_s + E_s(Q)\big), \quad L_{lat} = T_w + T_s + T_e.       \tag{L1}

The estimate is a bound in neither direction: see the page.
"""

from __future__ import annotations

from dataclasses import dataclass

from gadgetopt.pieces.pipeline.latency_planner import Memo, plan_by_latency
from gadgetopt.pieces.pipeline.pivot_latency import Ending, PivotRule
from gadgetopt.pieces.pipeline.placement import Variant
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import DappleInstance
from .schedules import Warmup, scheduled


@method(kind="heuristic", reference="Fan et al. 2021, equations 1 to 5")
def dapple(
    instance: DappleInstance,
    limits: Limits,
    *,
    warmup: Warmup = "best",
) -> MethodOutcome:
    r"""Least latency around a pivot, three placement policies; early backward.

    Return the plan of the least latency, scheduled by warm-up numbers.

    With all prefixes kept (`dapple_all_prefixes`) it is the same result as `plain`, tested, but for
    plans of equal latency. The paper calls the planner dynamic programming: this one keeps the best
    prefix for each number of layers planned and set of GPUs occupied. As the latency depends on the
    whole prefix, that is a heuristic.

    No ratio is proven: the plan minimises an estimate, and may be 1.147 times the optimum or more
    (instance D2). A posteriori, the makespan is at most its quotient by :math:`\max_Q L_Q` times
    the optimum of the plan.

    Parameters
    ----------
    instance : DappleInstance
    limits : Limits
        `time_s` stops between two prefixes.
    warmup : "A", "B" or "best", default "best"
        Warm-up policy; "best" simulates both.

    Notes
    -----
    Every visited prefix is a candidate, completed by one stage on all other GPUs; the first one is
    pure data parallelism. The pivot is chosen anew for every candidate, which the paper updates
    from the previous one. It takes
    :math:`O(S L^2 \prod_k (\sigma_k + 1) \cdot G)` candidates.

    References
    ----------
    S. Fan et al., "DAPPLE: A Pipelined Data Parallel Approach for Training Large Models", PPoPP
    2021, equations 1 to 5.
    """
    return planned(instance, limits, warmup, Reading())


@dataclass(frozen=True)
class Reading:
    """How the paper's planner is read.

    Attributes
    ----------
    memo : "none" or "best_prefix"
        Keep all prefixes, or the best for each (layers planned, GPUs occupied).
    pivot : "paper", "max" or "slowest"
        The printed rule, the pivot of the largest lower bound, or the slowest stage or link.
    ending : "derived", "printed" or "slides"
        Sign and range of the ending phase after the pivot.
    placement : "fallback", "code" or "slides"
        What the placement policies do when they run out of GPUs, or four of them.
    max_stages : int or None
        Most stages; None for no limit beside the instance's.
    """

    memo: Memo = "best_prefix"
    pivot: PivotRule = "paper"
    ending: Ending = "derived"
    placement: Variant = "fallback"
    max_stages: int | None = None


def planned(
    instance: DappleInstance, limits: Limits, warmup: Warmup, reading: Reading
) -> MethodOutcome:
    """Return the plan of the least latency by a reading, scheduled by warm-up numbers."""
    clock = Clock(limits)
    with clock.phase("planner"):
        found = plan_by_latency(
            instance,
            clock,
            max_stages=reading.max_stages,
            memo=reading.memo,
            pivot=reading.pivot,
            ending=reading.ending,
            variant=reading.placement,
        )
    limit_hit = None if found.complete else "time_s"
    if found.plan is None:
        return MethodOutcome(limit_hit=limit_hit, phases_s=clock.phases_s)
    with clock.phase("schedule"):
        best = scheduled(shop_of(instance, found.plan), warmup)
    return MethodOutcome(
        solution=best.solution(found.plan),
        claimed_objective=best.schedule.makespan_s,
        limit_hit=limit_hit,
        phases_s=clock.phases_s,
        notes={
            "latency_paper_s": found.latency_s,
            "candidates": found.candidates,
            "warmup_policy": best.policy,
        },
    )
