r"""Certificates of lower bounds on the makespan, and their check in whole numbers.

* `MeanLoad`: :math:`\lceil \sum_j p_j / m \rceil`.
* `Pigeonhole`: of the km + 1 longest jobs some machine has k + 1, which take no less than the k + 1
  shortest of them. With k = 0 that is the longest job.
* `DualFeasible`: the jobs do not fit into m machines of capacity C, so the makespan is at least
  C + 1. A dual feasible function f has :math:`\sum_{x \in S} f(x) \le f(C)` for all
  :math:`\sum_{x \in S} x \le C`; where :math:`\sum_j f(p_j) > m f(C)`, the jobs do not fit.
* `Prices`: the same with any prices of the processing times. What a machine of capacity C can
  collect is no formula then but the optimum of a knapsack, which the check solves by dynamic
  programming. Optimal duals of the pattern formulation make the strongest such proof.

The makespan is the sum of some processing times; `attainable` raises the bound to the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from gadgetopt.search.checked import checked_once
from gadgetopt.system.data import Certificate, Data, NonNegativeInt, PositiveInt

from ..counting import MOST_CELLS, MOST_STEPS, TableTooLarge
from ..instance import ParallelMachinesInstance

Function = Literal["martello_toth", "fekete_schepers", "carlier_clautiaux_moukrim"]


class MeanLoad(Data):
    """The mean load of the machines, rounded up."""

    kind: Literal["mean_load"] = "mean_load"


class Pigeonhole(Data):
    """Some machine has one job more than `jobs` of the longest `jobs` * m + 1."""

    kind: Literal["pigeonhole"] = "pigeonhole"
    jobs: NonNegativeInt


class DualFeasible(Data):
    r"""A dual feasible function under which the jobs do not fit.

    Attributes
    ----------
    function : str
        See `dual_feasible_values`.
    parameter : int
        Its :math:`\lambda` or k.
    capacity_s : int
        The capacity C that is refuted.
    """

    kind: Literal["dual_feasible"] = "dual_feasible"
    function: Function
    parameter: PositiveInt
    capacity_s: NonNegativeInt


class Prices(Data):
    """Prices under which all jobs are worth more than m machines can collect.

    Attributes
    ----------
    prices : tuple of int
        Of every distinct processing time, the longest first.
    capacity_s : int
        The capacity C that is refuted.
    """

    kind: Literal["prices"] = "prices"
    prices: tuple[NonNegativeInt, ...]
    capacity_s: NonNegativeInt


Proof = MeanLoad | Pigeonhole | DualFeasible | Prices


class ParallelMachinesCertificate(Certificate):
    """A proof of a lower bound; with `attainable`, raised to the next sum of processing times."""

    proof: Annotated[Proof, Field(discriminator="kind")]
    attainable: bool = False


@checked_once
def check_bound(
    instance: ParallelMachinesInstance, certificate: ParallelMachinesCertificate
) -> int | None:
    """Return the lower bound in seconds that a certificate proves; None if it proves none.

    Raises
    ------
    ValueError
        If it refers to jobs or times that the instance does not have, or the check would take too
        long.
    """
    bound = _proved(instance, certificate.proof)
    if bound is None or not certificate.attainable:
        return bound
    return next_attainable(instance, bound)


def _proved(instance: ParallelMachinesInstance, proof: Proof) -> int | None:
    if isinstance(proof, MeanLoad):
        return instance.mean_load_s
    if isinstance(proof, Pigeonhole):
        return pigeonhole_bound(instance, proof.jobs)
    if proof.capacity_s < max(instance.processing_s):
        return proof.capacity_s + 1
    refuted = (
        _is_refuted_by_function(instance, proof)
        if isinstance(proof, DualFeasible)
        else _is_refuted_by_prices(instance, proof)
    )
    return proof.capacity_s + 1 if refuted else None


def pigeonhole_bound(instance: ParallelMachinesInstance, k: int) -> int:
    """Return the sum of the k + 1 shortest of the km + 1 longest jobs.

    Raises
    ------
    ValueError
        If there are fewer jobs.
    """
    needed = k * instance.machines + 1
    if needed > len(instance.processing_s):
        raise ValueError(
            f"jobs: {k} a machine and one more are {needed}, "
            f"but there are {len(instance.processing_s)}"
        )
    longest = instance.longest_first[:needed]
    return sum(instance.processing_s[j] for j in longest[-(k + 1) :])


def next_attainable(instance: ParallelMachinesInstance, bound: int) -> int:
    """Return the least sum of processing times that is no less than a bound, job by job.

    Raises
    ------
    TableTooLarge
        If there are too many sums.
    """
    # Adding jobs one by one, the first sum to reach the bound exceeds it by less than a job.
    end = bound + max(instance.processing_s)
    if end > MOST_CELLS or end * len(instance.processing_s) > MOST_STEPS:
        raise TableTooLarge(f"attainable: the table of sums up to {end} is too large")
    below_end = (1 << end) - 1
    sums = 1  # bit s is 1 if some jobs take s together
    for time_s in instance.processing_s:
        sums |= (sums << time_s) & below_end
    above = sums >> bound
    lowest = above & -above
    return bound + max(lowest.bit_length() - 1, 0)


def dual_feasible_values(
    function: Function, parameter: int, capacity_s: int, times_s: Sequence[int]
) -> tuple[list[int], int]:
    r"""Return f of every time, none above the capacity, and f(C).

    Scaled to whole numbers,

    * Martello and Toth, :math:`1 \le \lambda \le C/2`: C for times above :math:`C - \lambda`, 0 for
      those below :math:`\lambda`, x else;
    * Fekete and Schepers, k: :math:`kx` where :math:`(k+1)x` is a multiple of C, else
      :math:`C \lfloor (k+1) x / C \rfloor`; f(C) = kC;
    * Carlier, Clautiaux and Moukrim, :math:`1 \le \lambda \le C/2`:
      :math:`2 (\lfloor C/\lambda \rfloor - \lfloor (C-x)/\lambda \rfloor)` above C/2,
      :math:`\lfloor C/\lambda \rfloor` at C/2 and :math:`2 \lfloor x/\lambda \rfloor` below;
      :math:`f(C) = 2 \lfloor C/\lambda \rfloor`.

    Raises
    ------
    ValueError
        If the parameter is not in its range.
    """
    C, k = capacity_s, parameter
    if function == "fekete_schepers":
        return [k * x if (k + 1) * x % C == 0 else C * ((k + 1) * x // C) for x in times_s], k * C
    if 2 * k > C:
        raise ValueError(f"parameter: {k} is more than half the capacity {C}")
    if function == "martello_toth":
        return [C if x > C - k else x if x >= k else 0 for x in times_s], C
    full = C // k
    above = {x: 2 * (full - (C - x) // k) for x in times_s}
    return [
        above[x] if 2 * x > C else full if 2 * x == C else 2 * (x // k) for x in times_s
    ], 2 * full


def _is_refuted_by_function(instance: ParallelMachinesInstance, proof: DualFeasible) -> bool:
    values, whole = dual_feasible_values(
        proof.function, proof.parameter, proof.capacity_s, list(instance.demand)
    )
    total = sum(b * f for b, f in zip(instance.demand.values(), values, strict=True))
    return total > instance.machines * whole


def _is_refuted_by_prices(instance: ParallelMachinesInstance, proof: Prices) -> bool:
    if len(proof.prices) != len(instance.demand):
        raise ValueError(
            f"prices: {len(proof.prices)} for {len(instance.demand)} distinct processing times"
        )
    total = sum(b * y for b, y in zip(instance.demand.values(), proof.prices, strict=True))
    return total > instance.machines * most_collected(instance, proof.prices, proof.capacity_s)


def most_collected(
    instance: ParallelMachinesInstance, prices: Sequence[int], capacity_s: int
) -> int:
    """Return the largest worth of jobs that fit into a machine of this capacity.

    Raises
    ------
    TableTooLarge
        If the dynamic program would take too long, or the worth more than 62 bits.
    """
    cells = min(capacity_s, instance.total_s) + 1
    bundles = [
        (n * time_s, n * price)
        for (time_s, count), price in zip(instance.demand.items(), prices, strict=True)
        for n in _doubling(min(count, capacity_s // time_s))
        if price
    ]
    if cells > MOST_CELLS or cells * len(bundles) > MOST_STEPS:
        raise TableTooLarge(f"capacity_s: {capacity_s}, a table of {cells:.2g} cells is too large")
    if sum(worth for _, worth in bundles) > 2**62:
        raise TableTooLarge("prices: too many digits for 64 bits")
    best = np.zeros(cells, dtype=np.int64)
    for time_s, worth in bundles:
        np.maximum(best[time_s:], best[: cells - time_s] + worth, out=best[time_s:])
    return int(best[-1])


def _doubling(count: int) -> list[int]:
    """Return 1, 2, 4, ... and a rest, whose sums of some are all numbers up to `count`."""
    powers = [2**k for k in range((count + 1).bit_length() - 1)]
    rest = count - sum(powers)
    return [*powers, rest] if rest else powers
