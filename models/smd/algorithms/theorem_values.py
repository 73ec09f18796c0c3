"""Values of the theorems for an instance and the parameters of a run; `guarantees` states them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from gadgetopt.numbers.tolerance import Number
from gadgetopt.pieces.knapsack.dynamic import collinear
from gadgetopt.pieces.utility import NEGLIGIBLE

from ..instance import Job, SmdInstance
from ..subproblems.columns import collapsed
from ..subproblems.inner import best_pair, largest_p
from ..subproblems.ratios import ratios
from .grid_search import Grid, search_grid
from .outer import enumerated_sets
from .rounding import job_shrink


@dataclass(frozen=True)
class Variant:
    """What theorems have to know of a variant of SMD, besides its parameters.

    Attributes
    ----------
    grid : "repaired" or "as_printed"
        Of Algorithm 1.
    rounds_down : bool
        True if the point rounded down is among the pairs compared, instead of Algorithm 2.
    admission : "algorithm_3", "exact" or "greedy"
    """

    grid: Grid = "repaired"
    rounds_down: bool = False
    admission: Literal["algorithm_3", "exact", "greedy"] = "algorithm_3"


#: The paper's algorithm with its repairs.
REPAIRED: Variant = Variant()


def theorem_3_ratio(instance: SmdInstance, parameters: Mapping[str, Any]) -> Number | None:
    """Return (k + R) / k, 1 if all sets are enumerated; None for k = 0, or if use is charged."""
    if instance.charging != "reserved":
        return None
    k = enumerated_sets(instance, int(parameters["k"]), parameters["eps_outer"])
    knapsack = collapsed(instance).knapsack
    if k >= knapsack.num_items:
        return 1
    rows = 1 if collinear(knapsack) is not None else len(instance.capacity)
    return Fraction(k + rows, k) if k > 0 else None


def theorem_5_factor(shrink: float, delta: float) -> float:
    """Return (24 / M + 4) / delta, the factor that rounding costs with probability 1 - delta."""
    return (24 / shrink + 4) / delta


def theorem_6_log_ratio(
    instance: SmdInstance, parameters: Mapping[str, Any], variant: Variant = REPAIRED
) -> float | None:
    """Return the logarithm of Theorem 6's ratio; None without delta or for k = 0."""
    delta, outer = parameters["delta"], _outer_log_ratio(instance, parameters, variant)
    served = list(_best_times(instance))
    if delta is None or outer is None or not served:
        return None
    worst = -math.inf
    best = -math.inf
    for job, tau_s in served:
        late = (1 + parameters["eps_inner"]) * theorem_5_factor(job_shrink(job, delta), delta)
        best = max(best, job.utility.log_at(tau_s))
        worst = max(worst, -job.utility.log_at(tau_s * late))
    return best + worst + outer


def theorem_6_probability(
    instance: SmdInstance, parameters: Mapping[str, Any], *, as_printed: bool = True
) -> float:
    """Return the probability of Theorem 6, as printed or with the union over four rows."""
    fails = parameters["delta"] / (8 if as_printed else 2)
    return float((1 - fails ** parameters["attempts"]) ** len(instance.jobs))


def theorem_9_counts(
    instance: SmdInstance, parameters: Mapping[str, Any], variant: Variant = REPAIRED
) -> dict[str, int]:
    """Return the linear programs of Algorithm 1 and 3 as printed, and the roundings.

    Of Algorithms 2 and 3 only where the variant has them.
    """
    served = [job for job in instance.jobs if largest_p(job)]
    eps, I = parameters["eps_inner"], len(instance.jobs)  # noqa: E741  # the paper's letter
    counts = {
        "inner_programs": sum(
            search_grid(job, eps, variant.grid).size + 2 * len(ratios(job)) for job in served
        )
    }
    if not variant.rounds_down:
        counts["roundings"] = parameters["attempts"] * len(served)
    if variant.admission == "algorithm_3":
        k = enumerated_sets(instance, parameters["k"], parameters["eps_outer"])
        counts["outer_programs"] = sum(math.comb(I, s) for s in range(min(k, I) + 1))
    return counts


def rounding_log_ratio(
    instance: SmdInstance, parameters: Mapping[str, Any], variant: Variant = REPAIRED
) -> float | None:
    """Return the logarithm of the per-job rounding ratio (B1 or B2 of `guarantees.ratios`).

    None for k = 0, or if the utility of some job may become negligible.
    """
    log_ratio = _outer_log_ratio(instance, parameters, variant)
    if log_ratio is None:
        return None
    loss = 0.0
    for job, tau_s in _best_times(instance):
        late = tau_s * rounding_factor(job, parameters, variant) * (1 + parameters["eps_inner"])
        if job.utility.at(tau_s) == 0:
            continue
        if job.utility.log_at(late) < math.log(NEGLIGIBLE) + math.log(job.utility.gamma1):
            return None
        loss = max(loss, job.utility.log_at(tau_s) - job.utility.log_at(late))
    return log_ratio + loss


def rounding_factor(job: Job, parameters: Mapping[str, Any], variant: Variant = REPAIRED) -> float:
    """Return kappa: 2 where the floor is among the roundings compared, else 4 / M."""
    if variant.rounds_down:
        return 2.0
    delta = parameters["delta"]
    shrink = parameters["shrink"] if delta is None else job_shrink(job, delta)
    return float(4 / shrink)


def theorem_notes(
    instance: SmdInstance, parameters: Mapping[str, Any], variant: Variant = REPAIRED
) -> dict[str, float | int | None]:
    """Return notes on the theorems for a run of SMD: logarithms of ratios, counts, probability."""
    counts = theorem_9_counts(instance, parameters, variant)
    told: dict[str, float | int | None] = {f"theorem_9_{what}": n for what, n in counts.items()}
    bounded = instance.charging == "reserved" and variant.admission != "greedy"
    if bounded and variant.grid == "repaired":
        told["b1_b2_log_ratio"] = rounding_log_ratio(instance, parameters, variant)
    if parameters.get("delta") is None:
        return told
    if bounded:
        told["theorem_6_log_ratio"] = theorem_6_log_ratio(instance, parameters, variant)
    for name, as_printed in (("as_printed", True), ("of_all_rows", False)):
        told[f"theorem_6_probability_{name}"] = theorem_6_probability(
            instance, parameters, as_printed=as_printed
        )
    return told


def _best_times(instance: SmdInstance) -> Iterator[tuple[Job, float]]:
    """Return tau* of every job that fits its reservation."""
    for job in instance.jobs:
        pair = best_pair(job)
        if pair is not None:
            yield job, pair.tau_s


def _outer_log_ratio(
    instance: SmdInstance, parameters: Mapping[str, Any], variant: Variant
) -> float | None:
    if variant.admission == "exact":
        return 0.0
    # Rounding may leave jobs without utility; then fewer sets are enumerated, never more.
    ratio = theorem_3_ratio(instance, parameters)
    return None if ratio is None else math.log(ratio)
