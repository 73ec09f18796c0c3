r"""Certificates of lower bounds on the makespan: formulas that the check evaluates.

With rho_j the shortest duration of job j over every number of servers and level it can meet:

.. math::
    LB_1 = \max_j \rho_j, \qquad LB_2 = \Big\lceil \sum_j G_j \rho_j / N \Big\rceil,

and the energetic bound, the smallest M >= max(LB_1, LB_2) such that for every 0 <= t < M/2

.. math::
    \sum_j G_j \min\{M - 2t, (\rho_j - t)^+\} \le N (M - 2t).

A job of length rho inside [0, M) spends at least min(M - 2t, (rho - t)^+) slots in the window
[t, M - t): at most t of them lie before it or at most t after it.

Two more need prices. With prices p_j >= 0 of an iteration and R(p) the most that one slot can do at
these prices (`configurations.py`), `instants` is

.. math:: \Big\lceil \sum_j p_j F_j / R(p) \Big\rceil.

`gpu_bins` has prices of jobs (`gpu_bins.py`). `exhaustion` has tables of prices of modes
(`mode_prices.py`), with which the check goes through all schedules that could be shorter
(`exhaustion.py`). All are computed in integers, so no solver is involved. All formulas are
(reconstructed): the paper has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from gadgetopt.errors import ModelRefused
from gadgetopt.system.data import Certificate, Data, PositiveInt

from . import exhaustion, gpu_bins
from .configurations import iterations_per_slot, most_per_slot
from .instance import SjfBcoInstance
from .subproblems.mode_prices import LARGEST_PRICE, Modes, price_tables

#: Prices of an iteration of every job.
Prices = tuple[Annotated[int, Field(ge=0, le=10**12)], ...]
#: Numbers up to this are 64-bit integers, larger ones Python integers.
_INT64_SAFE = 2**61


def longest_job(instance: SjfBcoInstance) -> int:
    """Return LB_1, the largest shortest duration of a job."""
    return int(instance.rates.exec_min.max())


def area(instance: SjfBcoInstance) -> int:
    """Return LB_2, the GPU slots of all jobs over the number of GPUs."""
    shortest = instance.rates.exec_min.tolist()
    gpu_slots = sum(g * rho for g, rho in zip(instance.rates.gpus, shortest, strict=True))
    return -(-gpu_slots // instance.total_gpus)


def energetic_bound(instance: SjfBcoInstance) -> int:
    """Return the smallest M that passes the window test for every t.

    If M passes, every larger M does. Some M below LB_2 + 2 LB_1 passes: there no job fills a
    window, and the demand is part of the area. So M is bisected. The M that a failing window needs
    at its present demand is also a lower bound and mostly ends the search at once. A test takes
    O(J log J), independent of the number of slots.
    """
    windows = _Windows(instance)
    low = max(longest_job(instance), area(instance))
    high = area(instance) + 2 * longest_job(instance)
    while low < high:
        needed = windows.needed(low)
        if needed <= low:
            break
        low, middle = needed, (needed + high) // 2
        if windows.needed(middle) <= middle:
            high = middle
        else:
            low = middle + 1
    return low


class _Windows:
    """Demand of the windows [t, M - t), a piecewise linear function of t.

    The demand of a job changes its slope at t = rho_j, beyond which the job can avoid the window,
    and at t = M - rho_j, beyond which it fills the window. So the largest M that any window needs
    is needed at one of these points, or by the first or the last window.
    """

    def __init__(self, instance: SjfBcoInstance):
        self.gpus = instance.total_gpus
        rho, job_class = np.unique(instance.rates.exec_min, return_inverse=True)
        most_gpus = max(self.gpus, sum(instance.rates.gpus))
        largest = 2 * most_gpus * (area(instance) + 2 * longest_job(instance))
        dtype = np.int64 if largest <= _INT64_SAFE else object
        self.rho = rho.astype(dtype)
        gangs = np.zeros(len(self.rho), dtype=dtype)
        np.add.at(gangs, job_class, np.array(instance.rates.gpus, dtype=dtype))
        # Gangs and GPU slots of the jobs shorter than each rho; the last entry counts all jobs.
        self.gangs_below = np.concatenate([[0], np.cumsum(gangs)])
        self.slots_below = np.concatenate([[0], np.cumsum(gangs * self.rho)])

    def needed(self, M: int) -> int:
        """Return the largest M that any window needs, given its demand at this M."""
        last = min(int(self.rho[-1]), (M + 1) // 2) - 1  # no demand in later windows
        t = np.concatenate([[0, last], self.rho, M - self.rho])
        t = t[(t >= 0) & (t <= last)]
        outside = np.searchsorted(self.rho, t, side="right")  # rho <= t: nothing in the window
        # rho >= M - t: the window is filled
        filling = np.maximum(np.searchsorted(self.rho, M - t, side="left"), outside)
        partly = self.slots_below[filling] - self.slots_below[outside]
        partly = partly - t * (self.gangs_below[filling] - self.gangs_below[outside])
        demand = partly + (M - 2 * t) * (self.gangs_below[-1] - self.gangs_below[filling])
        return int((2 * t - (-demand // self.gpus)).max())


class InstantPrices(Data):
    """Prices of an iteration of every job, see `configurations`.

    Attributes
    ----------
    prices : tuple of int
    """

    prices: Prices


class GpuBinPrices(Data):
    """Prices of jobs that refute one slot less than a number of slots, see `gpu_bins`.

    Attributes
    ----------
    slots : int
        The bound that the prices prove.
    prices : tuple of int
        One for each job.
    unit_slots : int
        Slots of a unit to which durations and the length of a bin are rounded down.
    """

    slots: PositiveInt
    prices: Prices
    unit_slots: Annotated[int, Field(gt=0, le=gpu_bins.NEVER)] = 1


class ExhaustionPrices(Data):
    """Tables of prices with which no schedule is left that is shorter, see `exhaustion`.

    Attributes
    ----------
    slots : int
        The bound that is proved.
    prices : tuple of tuple of int
        Tables with a price for each mode: number of servers and level of a job, in ascending order,
        one job after the other.
    """

    slots: PositiveInt
    prices: Annotated[
        tuple[tuple[Annotated[int, Field(ge=0, le=LARGEST_PRICE)], ...], ...],
        Field(min_length=1, max_length=1000),
    ]


class SjfBcoCertificate(Certificate):
    """A combinatorial bound, given by name, or prices; the module docstring has the formulas."""

    formula: Literal["longest_job", "area", "energetic"] | None = None
    instants: InstantPrices | None = None
    gpu_bins: GpuBinPrices | None = None
    exhaustion: ExhaustionPrices | None = None

    @model_validator(mode="after")
    def _one_proof(self) -> Self:
        proofs = (self.formula, self.instants, self.gpu_bins, self.exhaustion)
        if sum(p is not None for p in proofs) != 1:
            raise ValueError("formula: expected one of formula, instants, gpu_bins and exhaustion")
        return self


def check_bound(instance: SjfBcoInstance, certificate: SjfBcoCertificate) -> int | None:
    """Return the bound that a certificate proves; None if its prices prove none.

    Raises
    ------
    ValueError
        If there is not one price for each job, or the check would take too long.
    """
    if certificate.gpu_bins is not None:
        return _gpu_bins_bound(instance, certificate.gpu_bins)
    try:
        if certificate.instants is not None:
            return _instants_bound(instance, certificate.instants.prices)
        if certificate.exhaustion is not None:
            return _exhaustion_bound(instance, certificate.exhaustion)
    except ModelRefused as error:
        raise ValueError(str(error)) from None
    formulas = {"longest_job": longest_job, "area": area, "energetic": energetic_bound}
    assert certificate.formula is not None  # one of them is there
    return formulas[certificate.formula](instance)


def _gpu_bins_bound(instance: SjfBcoInstance, proof: GpuBinPrices) -> int | None:
    """Return the bound if its prices refute one slot less."""
    _check_prices(instance, proof.prices, "gpu_bins.prices")
    if gpu_bins.refutes(instance, proof.slots - 1, proof.prices, proof.unit_slots):
        return proof.slots
    return None


def _exhaustion_bound(instance: SjfBcoInstance, proof: ExhaustionPrices) -> int | None:
    """Return the bound if no schedule takes one slot less."""
    try:
        tables = price_tables(Modes(instance), proof.prices)
    except ValueError as error:
        raise ValueError(f"exhaustion.prices: {error}") from None
    return proof.slots if exhaustion.refutes(instance, proof.slots - 1, tables) else None


def _instants_bound(instance: SjfBcoInstance, prices: Sequence[int]) -> int:
    """Return ceil(sum_j p_j F_j / R(p))."""
    _check_prices(instance, prices, "instants.prices")
    per_slot = most_per_slot(iterations_per_slot(instance), prices)
    worth = sum(p * f for p, f in zip(prices, instance.rates.iterations, strict=True))
    return -(-worth // per_slot)


def _check_prices(instance: SjfBcoInstance, prices: Sequence[int], where: str) -> None:
    if len(prices) != len(instance.jobs):
        raise ValueError(f"{where}: {len(prices)} for {len(instance.jobs)} jobs")
    if not any(prices):
        raise ValueError(f"{where}: all are 0")
