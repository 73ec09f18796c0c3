r"""Certificates of lower bounds on the makespan: formulas that the check evaluates.

The bounds by area and time windows are formulas (`time_windows.py`).

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
from typing import Annotated, Self

from pydantic import Field, model_validator

from gadgetopt.errors import ModelRefused
from gadgetopt.search.checked import checked_once
from gadgetopt.system.data import Certificate, Data, PositiveInt

from ...instance import SjfBcoInstance
from . import (
    exhaustion,
    gpu_bins,
)
from .configurations import (
    iterations_per_slot,
    most_per_slot,
)
from .mode_prices import (
    LARGEST_PRICE,
    Modes,
    price_tables,
)
from .time_windows import Formula, formula_bound

#: Prices of an iteration of every job.
Prices = tuple[Annotated[int, Field(ge=0, le=10**12)], ...]


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

    formula: Formula | None = None
    instants: InstantPrices | None = None
    gpu_bins: GpuBinPrices | None = None
    exhaustion: ExhaustionPrices | None = None

    @model_validator(mode="after")
    def _one_proof(self) -> Self:
        proofs = (self.formula, self.instants, self.gpu_bins, self.exhaustion)
        if sum(p is not None for p in proofs) != 1:
            raise ValueError("formula: expected one of formula, instants, gpu_bins and exhaustion")
        return self


@checked_once
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
    assert certificate.formula is not None  # one of them is there
    return formula_bound(instance, certificate.formula)


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
