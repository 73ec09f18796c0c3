"""The knapsack over columns: pairs of workers and servers, with utilities and what is charged.

What is charged are reservations or, with charging "used", what the workers and servers of a pair
take. `formulations/columns.py` states the model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.numbers.units import common_unit
from gadgetopt.pieces.knapsack.problem import Knapsack

from ..instance import Allocation, SmdInstance, SmdSolution
from .inner import Pair, best_pair, pairs


@dataclass(frozen=True)
class Columns:
    """A knapsack of pairs of workers and servers, a group for every job.

    Attributes
    ----------
    knapsack : Knapsack
        Profits are utilities. Rows are in the whole numbers that `row_scale` makes of resources.
        Only jobs of some use are groups.
    job, w, p : ndarray of int, shape (items,)
    row_scale : tuple of Fraction, one for every resource
        What the rows were multiplied by.
    exact : bool
        True if all amounts became whole numbers, so that none was rounded.
    """

    knapsack: Knapsack
    job: Ints
    w: Ints
    p: Ints
    row_scale: tuple[Fraction, ...]
    exact: bool

    def fits(self, instance: SmdInstance, chosen: npt.ArrayLike) -> bool:
        """Return True if a choice that fits the rows, which may be rounded down, truly fits."""
        if self.exact:
            return True
        used = [Fraction(0)] * len(instance.capacity)
        for c in np.asarray(chosen, dtype=np.int64).tolist():
            amounts = _charged(instance, int(self.job[c]), int(self.w[c]), int(self.p[c]))
            used = [u + a for u, a in zip(used, amounts, strict=True)]
        return all(u <= decimal_rational(C) for u, C in zip(used, instance.capacity, strict=True))

    def rounded_up(self, instance: SmdInstance) -> Knapsack:
        """Return the knapsack with rows rounded up: whatever fits it truly fits."""
        rows = charged_rows(instance, self.job, self.w, self.p, up=True)
        return replace(self.knapsack, weight=rows.weight, capacity=rows.capacity)

    def solution(self, instance: SmdInstance, chosen: npt.ArrayLike) -> SmdSolution:
        """Return the decision that runs the jobs of the chosen items with their pairs."""
        given = [Allocation(admit=False)] * len(instance.jobs)
        for c in np.asarray(chosen, dtype=np.int64).tolist():
            given[int(self.job[c])] = Allocation(
                admit=True, num_workers=int(self.w[c]), num_ps=int(self.p[c])
            )
        return SmdSolution(jobs=tuple(given))


def all_columns(instance: SmdInstance) -> Columns:
    """Return a column for every pair of every job that fits the reservation and has utility."""
    found = []
    for i, of in enumerate(instance.jobs):
        table = pairs(of)
        profit = of.utility.over(table.tau_s)
        keep = np.flatnonzero(profit > 0)
        found.append((np.full(len(keep), i), table.w[keep], table.p[keep], profit[keep]))
    job, w, p, profit = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return _columns(instance, job, w, p, profit)


def chosen_columns(instance: SmdInstance, chosen: Sequence[Pair | None]) -> Columns:
    """Return the column of every job's chosen pair; none if there is no pair or no utility."""
    kept = [
        (i, pair, job.utility.at(pair.tau_s))
        for i, (job, pair) in enumerate(zip(instance.jobs, chosen, strict=True))
        if pair is not None
    ]
    kept = [entry for entry in kept if entry[2] > 0]
    return _columns(
        instance,
        np.array([i for i, _, _ in kept], dtype=np.int64),
        np.array([pair.w for _, pair, _ in kept], dtype=np.int64),
        np.array([pair.p for _, pair, _ in kept], dtype=np.int64),
        np.array([u for _, _, u in kept], dtype=np.float64),
    )


def collapsed(instance: SmdInstance) -> Columns:
    """Return the knapsack of jobs, each with its pair of least completion time.

    Raises
    ------
    ModelRefused
        If what is used is charged.
    """
    if instance.charging != "reserved":
        raise ModelRefused("the knapsack of jobs is for charging 'reserved'")
    return chosen_columns(instance, [best_pair(job) for job in instance.jobs])


def _columns(instance: SmdInstance, job: Ints, w: Ints, p: Ints, profit: Floats) -> Columns:
    rows = charged_rows(instance, job, w, p)
    # Jobs come in their order; those without a column are no groups.
    owner = np.cumsum(np.diff(job, prepend=job[:1]) > 0, dtype=np.int64)
    knapsack = Knapsack(profit, rows.weight, owner, rows.capacity)
    return Columns(knapsack, job, w, p, rows.scale, rows.exact)


class Rows(NamedTuple):
    """Weights, shape (items, resources), and capacities; scale and exactness as of `Columns`."""

    weight: Floats
    capacity: Floats
    scale: tuple[Fraction, ...]
    exact: bool


def _charged(instance: SmdInstance, job: int, w: int, p: int) -> list[Fraction]:
    """Return exactly what a job is charged of each resource."""
    of = instance.jobs[job]
    if instance.charging == "reserved":
        return [decimal_rational(v) for v in of.reservation_limit]
    demands = zip(of.worker_demand, of.ps_demand, strict=True)
    return [decimal_rational(O_r) * w + decimal_rational(G_r) * p for O_r, G_r in demands]


def charged_rows(instance: SmdInstance, job: Ints, w: Ints, p: Ints, *, up: bool = False) -> Rows:
    """Return what pairs are charged of each resource, the capacities, and the rows' scales.

    All are whole numbers. Amounts of too many digits for doubles are rounded down, by less than
    1e-12 of the largest of their row: no pair that fits is lost.

    Parameters
    ----------
    job, w, p : ndarray of int, shape (items,)
        Numbers of jobs, workers and servers.
    up : bool
        True to round up instead: no pair that does not fit is admitted.
    """
    jobs = instance.jobs
    rows, capacity, scales, all_exact = [], [], [], True
    for r, C_r in enumerate(instance.capacity):
        if instance.charging == "reserved":
            limit = [of.reservation_limit[r] for of in jobs]
            scale, exact = _scale({*limit})
            rows.append(_whole(limit, scale, up)[job])
        else:
            worker = [of.worker_demand[r] for of in jobs]
            server = [of.ps_demand[r] for of in jobs]
            scale, exact = _scale({*worker, *server})
            rows.append(_whole(worker, scale, up)[job] * w + _whole(server, scale, up)[job] * p)
        # Of whole weights only whole amounts are used.
        capacity.append(math.floor(decimal_rational(C_r) * scale))
        scales.append(scale)
        all_exact = all_exact and exact
    return Rows(np.column_stack(rows), np.array(capacity, dtype=float), tuple(scales), all_exact)


#: Bits of the largest amount of a row. Tuned: `benchmarks/constants.py`.
_LARGEST_BITS = 40


def _scale(amounts: set[float]) -> tuple[Fraction, bool]:
    """Return the least number that makes amounts whole and True, or a power of two if too large."""
    exact = [decimal_rational(x) for x in amounts]
    unit = common_unit(exact)
    if max(exact) / unit <= 2**_LARGEST_BITS:
        return 1 / unit, True
    return Fraction(2) ** (_LARGEST_BITS - math.frexp(max(amounts))[1]), False


def _whole(amounts: Sequence[float], scale: Fraction, up: bool) -> Floats:
    """Return amounts at a scale, rounded to whole numbers where they are none."""
    to_whole = math.ceil if up else math.floor
    whole = {x: float(to_whole(decimal_rational(x) * scale)) for x in {*amounts}}
    return np.array([whole[x] for x in amounts])
