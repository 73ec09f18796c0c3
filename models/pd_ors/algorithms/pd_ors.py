"""PD-ORS, online primal-dual scheduling of training jobs.

Algorithms 1-4, after M. Yu, J. Liu, C. Wu, B. Ji, E. S. Bentley, "Toward Efficient Online
Scheduling for Distributed Machine Learning Systems", IEEE TNSE 9(4), 2022. The paper's text was not
at hand: algorithms are (reconstructed: recalled) along those of OASiS.
"""

from __future__ import annotations

import math

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import PdOrsInstance, PdOrsSolution
from ..subproblems.kernel import Plan, Progress, best_plans
from ..subproblems.prices import (
    Constants,
    PriceRange,
    PriceTable,
    Upper,
    chosen_range,
    log_steps,
)
from ..subproblems.slot_methods import (
    FallBack,
    Keep,
    SlotMethod,
    SlotOptions,
)
from ..terms import JobTerms
from .online import OnlineRun, outcome, run_online


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
    history: str | None = None,
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
        `time_s` is checked before each job; jobs after it are rejected.
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
    constants : "instance", "given" or "history", default "instance"
        U and L from all jobs of the instance, which nobody knows beforehand; `given_upper` and
        `given_lower`, per amount of 1 of any resource; or from the jobs of another instance, whose
        file is `history`.
    factor, attempts, keep, trim, fallback
        Of the roundings, see `slot_rounding.slot_rounding`.

    Returns
    -------
    MethodOutcome
        Its notes give the payoff of every job (None where it had no plan), the logarithms of U of
        each resource, of L and of mu, the ratio that is claimed of an exact kernel, and that with
        the steps of prices that accepted jobs made; of roundings also `guarantees.rho_hat` and the
        logarithm of the probability of the claim.

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
        Clock(limits),
    )
    limits_of_prices = chosen_range(
        instance,
        constants=constants,
        given_upper=given_upper,
        given_lower=given_lower,
        history=history,
        upper=upper,
        log_price_span=log_price_span,
        normalise_resources=normalise_resources,
    )
    run = pd_ors_run(instance, limits, limits_of_prices, options, progress=progress, quanta=quanta)
    notes = {
        **price_notes(limits_of_prices),
        "claimed_ratio": 2 * max(1.0, *limits_of_prices.log_spans),
        "corrected_ratio": _corrected_ratio(instance, run, limits_of_prices),
    }
    found = outcome(instance, run, notes)
    if slot_method == "rounding" and isinstance(found.solution, PdOrsSolution):
        from ..guarantees.ratios import rho_hat, rounding_log_probability

        found.notes["rho_hat"] = rho_hat(instance, found.solution, limits_of_prices)
        found.notes["log_probability"] = rounding_log_probability(instance)
    return found


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
    """Return notes on the prices of a run."""
    return {
        "log_upper": [u if math.isfinite(u) else None for u in limits_of_prices.log_upper],
        "log_lower": limits_of_prices.log_lower,
        "log_mu": limits_of_prices.log_mu,
    }


def _corrected_ratio(
    instance: PdOrsInstance, run: OnlineRun, limits_of_prices: PriceRange
) -> float | None:
    """Return 2 alpha-hat, see `guarantees`; None where it is beyond doubles."""
    spans = np.array(limits_of_prices.log_spans)
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
