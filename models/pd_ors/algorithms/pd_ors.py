"""PD-ORS, online primal-dual scheduling of training jobs.

Algorithms 1-4, after M. Yu, J. Liu, C. Wu, B. Ji, E. S. Bentley, "Toward Efficient Online
Scheduling for Distributed Machine Learning Systems", IEEE TNSE 9(4), 2022. The paper's text was not
at hand: algorithms are (reconstructed: recalled) along those of OASiS. Here the program of a slot
is solved, exactly where that is fast; `rounding` solves it by the paper's roundings.
"""

from __future__ import annotations

import math

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import PdOrsInstance
from ..subproblems.kernel import Plan, Progress, best_plans
from ..subproblems.prices import PriceRange, PriceTable, Upper, log_steps, price_range
from ..subproblems.slot_methods import SlotOptions
from ..terms import JobTerms
from .online import OnlineRun, outcome, run_online

#: Where a slot's program is not solved exactly, numbers of workers tried: all up to 10 and the
#: multiples of F / GRID. Tuned: `benchmarks/constants.py`.
GRID = 16
#: Parts of the work, where that is too large to be counted exactly.
#: Tuned: `benchmarks/constants.py`.
QUANTA = 200


@method(kind="online", reference="Algorithms 1-4")
def pd_ors(
    instance: PdOrsInstance,
    limits: Limits,
    *,
    upper: Upper = "min",
) -> MethodOutcome:
    r"""Exponential prices, every job its best schedule on arrival, for good.

    Return the decisions of PD-ORS: on arrival a job is accepted with its schedule, or rejected.

    It is accepted if its utility exceeds what its cheapest schedule costs at exponential prices,
    for the completion slot where that difference, the payoff, is largest; the earliest of equals.
    With an exact kernel the paper claims a total utility of at least the optimum over
    :math:`2 \max_r (1, \ln(U^r / L))`, which instances refute where demands are not small against
    capacities (`guarantees`).

    Parameters
    ----------
    instance : PdOrsInstance
    limits : Limits
        `time_s` is checked before each job; jobs after it are rejected.
    upper : "min" or "sum", default "min"
        The reading of :math:`U^r`: utilities are divided by the lesser demand of a worker and a
        server, as OASiS has it, or by their sum, as recalled; see `prices.price_range`.

    Returns
    -------
    MethodOutcome
        Its notes give the payoff of every job (None where it had no plan), the logarithms of U of
        each resource, of L and of mu, the ratio that is claimed of an exact kernel, and that with
        the steps of prices that accepted jobs made.

    Notes
    -----
    Per job one slot table for each kind of slot that differs in load, O(machines log machines)
    with the greedy rule, and a dynamic program of O(slots * options * quanta).

    References
    ----------
    Algorithms 1-4 and the price function.
    """
    return decide(instance, limits, price_range(instance, upper=upper))


def decide(
    instance: PdOrsInstance,
    limits: Limits,
    price_bounds: PriceRange,
    options: SlotOptions | None = None,
    *,
    progress: Progress = "auto",
    quanta: int = QUANTA,
) -> MethodOutcome:
    """Return the decisions of PD-ORS at a range of prices, with the notes that `pd_ors` names.

    Parameters
    ----------
    price_bounds : PriceRange
    options : SlotOptions, optional
        How the external case of a slot is solved: by default exactly where that is fast.
    progress, quanta
        In what the work is counted, see `labels`.
    """
    options = options or SlotOptions("auto", grid=GRID, clock=Clock(limits))
    run = pd_ors_run(instance, limits, price_bounds, options, progress=progress, quanta=quanta)
    notes = {
        **price_notes(price_bounds),
        "claimed_ratio": 2 * max(1.0, *price_bounds.log_spans),
        "corrected_ratio": _corrected_ratio(instance, run, price_bounds),
    }
    return outcome(instance, run, notes)


def pd_ors_run(
    instance: PdOrsInstance,
    limits: Limits,
    price_bounds: PriceRange,
    options: SlotOptions,
    *,
    progress: Progress = "auto",
    quanta: int = QUANTA,
) -> OnlineRun:
    """Return plans, payoffs and final prices of PD-ORS at a given range of prices.

    The range may be that of another instance, the history. Parameters are those of `decide`. With
    slots by rounding, exact progress and the range of the instance it is the same result as
    `plain`, tested, but for schedules of one cost.
    """

    def find(job: JobTerms, table: PriceTable, last_slot: int) -> dict[int, Plan]:
        return best_plans(
            job,
            table.price,
            table.room,
            options=options,
            progress=progress,
            quanta=quanta,
            last_slot=last_slot,
            alike=table.alike,
        )

    table = PriceTable.of_range(instance.terms, price_bounds)
    return run_online(instance, limits, table, find)


def price_notes(price_bounds: PriceRange) -> dict[str, object]:
    """Return notes on the prices of a run."""
    return {
        "log_upper": [u if math.isfinite(u) else None for u in price_bounds.log_upper],
        "log_lower": price_bounds.log_lower,
        "log_mu": price_bounds.log_mu,
    }


def _corrected_ratio(
    instance: PdOrsInstance, run: OnlineRun, price_bounds: PriceRange
) -> float | None:
    """Return 2 alpha-hat, see `guarantees`; None where it is beyond doubles."""
    spans = np.array(price_bounds.log_spans)
    largest = 0.0
    for plan in run.plans:
        if plan is not None:
            # Resources that a machine does not have are not taken either.
            capacity = np.maximum(1, instance.terms.capacity[plan.usage.machines])
            taken = plan.usage.amounts > 0
            steps = log_steps(
                np.broadcast_to(spans, capacity.shape), spans * plan.usage.amounts / capacity
            )
            largest = max(largest, float(steps[taken].max(initial=0.0)))
    return 2 * math.exp(largest) if largest < 700 else None
