"""PD-ORS with other ways to find the cheapest schedules of a job."""

from __future__ import annotations

from typing import Literal

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.pd_ors import GRID, QUANTA, decide
from ..instance import PdOrsInstance
from ..subproblems.kernel import Progress
from ..subproblems.prices import price_range
from ..subproblems.slot_methods import SlotOptions


@method(kind="online", reference="Algorithms 2 and 3 (reconstructed)")
def pd_ors_kernel(
    instance: PdOrsInstance,
    limits: Limits,
    *,
    slot_method: Literal["auto", "exact_dp", "greedy", "milp"] = "auto",
    progress: Progress = "auto",
    quanta: int = QUANTA,
    grid: int = GRID,
) -> MethodOutcome:
    """PD-ORS with another way to find cheapest schedules.

    Return the decisions of `pd_ors` with cheapest schedules found in the way that is named.

    Parameters
    ----------
    instance : PdOrsInstance
    limits : Limits
        `time_s` is checked before each job; jobs after it are rejected.
    slot_method : "auto", "exact_dp", "greedy" or "milp", default "auto"
        How a slot's external case is solved, see `slot_methods.SlotOptions`.
    progress : "auto", "exact", "quantised" or "samples", default "auto"
        In what the work is counted, see `labels`. "samples" is the recursion as printed; it refuses
        jobs of many samples.
    quanta : int, default 200
        Parts of the work, if quantised.
    grid : int, default 16
        Numbers of workers tried, unless the slot method is exact: all up to 10 and the multiples of
        F / grid; 0 for all.
    """
    options = SlotOptions(slot_method, grid=grid, clock=Clock(limits))
    prices = price_range(instance)
    return decide(instance, limits, prices, options, progress=progress, quanta=quanta)
