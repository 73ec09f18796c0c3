"""PD-ORS, online primal-dual scheduling of training jobs (Algorithms 1-4).

After M. Yu, J. Liu, C. Wu, B. Ji, E. S. Bentley, "Toward Efficient Online Scheduling for
Distributed Machine Learning Systems", IEEE TNSE 9(4), 2022. The paper's text was not at hand:
algorithms are (reconstructed: recalled) along those of OASiS.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.result import Limits, MethodOutcome

from .instance import PdOrsInstance
from .kernel import Plan, Progress, best_plans
from .online import OnlineRun, outcome, run_online
from .prices import PriceRange, PriceTable, Upper, given_range, price_range
from .slot_methods import FallBack, Keep, SlotMethod, SlotOptions
from .terms import JobTerms

Constants = Literal["instance", "given"]


def pd_ors(
    instance: PdOrsInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    slot_method: SlotMethod = "auto",
    progress: Progress = "auto",
    quanta: int = 200,
    grid: int = 16,
    upper: Upper = "min",
    log_price_span: float | None = None,
    normalise_resources: bool = False,
    constants: Constants = "instance",
    given_upper: float = 1.0,
    given_lower: float = 1e-3,
    factor: float = 1.0,
    attempts: int = 50,
    keep: Keep = "first",
    trim: bool = True,
    fallback: FallBack = "none",
) -> MethodOutcome:
    r"""Return the decisions of PD-ORS: on arrival a job is accepted with its schedule, or rejected.

    It is accepted if its utility exceeds what its cheapest schedule costs at exponential prices,
    for the completion slot where that difference, the payoff, is largest; the earliest of equals.
    With an exact kernel the paper claims a total utility of at least the optimum over
    :math:`2 \max_r (1, \ln(U^r / L))`, which instances refute where demands are not small against
    capacities (`guarantees`).

    Parameters
    ----------
    instance : PdOrsInstance
    limits : Limits
        `time_s` is looked at before each job; jobs after it are rejected.
    rng : numpy.random.Generator
        Only a seed for roundings is drawn from it.
    slot_method : "auto", "exact_dp", "greedy", "milp" or "rounding", default "auto"
        How a slot's external case is solved, see `slot_methods.SlotOptions`. "rounding" is the
        paper's way.
    progress : "auto", "exact", "quantised" or "samples", default "auto"
        In what the work is counted, see `labels`. "samples" is the recursion as printed; it refuses
        jobs of many samples.
    quanta : int, default 200
        Parts of the work, if quantised.
    grid : int, default 16
        Numbers of workers tried, unless the slot method is exact: all up to 10 and the multiples of
        F / grid; 0 for all.
    upper, log_price_span, normalise_resources
        Of the prices, see `prices.price_range`.
    constants : "instance" or "given", default "instance"
        U and L from all jobs of the instance, which only the past could tell in practice, or
        `given_upper` and `given_lower`, per amount of 1 of any resource.
    factor, attempts, keep, trim, fallback
        Of the roundings, see `slot_rounding.slot_rounding`.

    Returns
    -------
    MethodOutcome
        Its notes give the payoff of every job (None where it had no plan), the logarithms of U of
        each resource, of L and of mu.

    Notes
    -----
    Per job one slot table for each kind of slot that differs in load, O(machines log machines)
    with the greedy rule, and a dynamic program of O(slots * options * quanta).

    References
    ----------
    Algorithms 1-4 and the price function.
    """
    options = SlotOptions(
        slot_method,
        grid,
        int(rng.integers(2**62)) if slot_method == "rounding" else 0,
        factor,
        attempts,
        keep,
        trim,
        fallback,
    )
    limits_of_prices = _range(
        instance, constants, given_upper, given_lower, upper, log_price_span, normalise_resources
    )
    run = pd_ors_run(instance, limits, limits_of_prices, options, progress=progress, quanta=quanta)
    return outcome(instance, run, price_notes(limits_of_prices))


def pd_ors_run(
    instance: PdOrsInstance,
    limits: Limits,
    limits_of_prices: PriceRange,
    options: SlotOptions,
    *,
    progress: Progress = "auto",
    quanta: int = 200,
) -> OnlineRun:
    """Return plans, payoffs and final prices of PD-ORS at a given range of prices.

    The range may be that of another instance, the history. Parameters are those of `pd_ors`.
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

    table = PriceTable.of_range(instance.terms, limits_of_prices)
    return run_online(instance, limits, table, find)


def price_notes(limits_of_prices: PriceRange) -> dict[str, object]:
    """Return what a run tells of its prices."""
    return {
        "log_upper": [u if math.isfinite(u) else None for u in limits_of_prices.log_upper],
        "log_lower": limits_of_prices.log_lower,
        "log_mu": limits_of_prices.log_mu,
    }


def _range(
    instance: PdOrsInstance,
    constants: Constants,
    given_upper: float,
    given_lower: float,
    upper: Upper,
    log_price_span: float | None,
    normalise_resources: bool,
) -> PriceRange:
    try:
        if constants == "given":
            return given_range(instance, given_upper, given_lower)
        if constants != "instance":
            raise ValueError(f"constants: {constants!r} is not 'instance' or 'given'")
        return price_range(
            instance,
            upper=upper,
            log_price_span=log_price_span,
            normalise_resources=normalise_resources,
        )
    except ValueError as error:
        raise ModelRefused(str(error)) from error
