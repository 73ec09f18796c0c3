"""DAPPLE's planner read in other ways than `dapple` reads it."""

from __future__ import annotations

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.pivot_latency import Ending, PivotRule
from gadgetopt.pieces.pipeline.placement import Variant
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.planner import Reading, planned
from ..algorithms.public_planner import best_score
from ..algorithms.schedules import Warmup
from ..instance import DappleInstance


@method(kind="heuristic", reference="Fan et al. 2021, equations 1 to 5, read otherwise")
def dapple_reading(
    instance: DappleInstance,
    limits: Limits,
    *,
    pivot: PivotRule = "max",
    ending: Ending = "derived",
    placement: Variant = "fallback",
    warmup: Warmup = "best",
) -> MethodOutcome:
    """DAPPLE's planner with another reading of the pivot, the ending or the placement.

    Parameters
    ----------
    pivot : "paper", "max" or "slowest", default "max"
        The printed rule, which `dapple` has, the pivot of the largest lower bound, or the slowest
        stage or link, which the slides of the planner's author have.
    ending : "derived", "printed" or "slides", default "derived"
        Sign and range of the ending phase after the pivot.
    placement : "fallback", "code" or "slides", default "fallback"
        What the placement policies do when they run out of GPUs; "slides" has a fourth policy.
    warmup : "A", "B" or "best", default "best"
        As of `dapple`.
    """
    reading = Reading(pivot=pivot, ending=ending, placement=placement)
    return planned(instance, limits, warmup, reading)


@method(kind="heuristic", reference="Fan et al. 2021, equations 1 to 5, all prefixes kept")
def dapple_all_prefixes(
    instance: DappleInstance,
    limits: Limits,
    *,
    max_stages: int = 0,
    warmup: Warmup = "best",
) -> MethodOutcome:
    """DAPPLE's planner with all prefixes kept: the least latency of its candidates.

    Exponential in the number of stages.

    Parameters
    ----------
    max_stages : int, default 0
        Most stages; 0 for no limit beside the instance's.
    warmup : "A", "B" or "best", default "best"
        As of `dapple`.
    """
    if max_stages < 0:
        raise ModelRefused(f"max_stages: {max_stages}, expected at least 0")
    return planned(instance, limits, warmup, Reading(memo="none", max_stages=max_stages or None))


@method(kind="heuristic", reference="public planner of Fan et al. 2021, repaired")
def dapple_code_repaired(
    instance: DappleInstance, limits: Limits, *, warmup: Warmup = "B"
) -> MethodOutcome:
    """The authors' public planner without its index slip.

    The score's AllReduce of a stage counts the layers of the stage only.

    Parameters
    ----------
    warmup : "A", "B" or "best", default "B"
        As of `dapple_code`.
    """
    return best_score(instance, limits, warmup, index_slip=False)
