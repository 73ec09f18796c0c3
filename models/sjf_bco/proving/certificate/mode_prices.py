r"""Prices of modes: what a job's iterations are worth at them, and what a slot can hold.

A mode of job j is its number of servers r and its level p. In a schedule job j runs on r_j servers,
and with n_p slots at level p it does :math:`\sum_p n_p \phi_j(r_j, p) \ge F_j` iterations. With
prices :math:`v_j(r, p) \ge 0` of a slot, f iterations on r servers are worth at least

.. math::
    V_j^r(f) = \min\Big\{\sum_p n_p v_j(r, p) : \sum_p n_p \phi_j(r, p) \ge f,\
    n_p \in \mathbb N\Big\},

and before the job starts :math:`V_j(f) = \min_r V_j^r(f)`. A slot holds one configuration c
(`configurations.py`) and is worth at most :math:`R = \max_c \sum_j v_j(c)`. So a state with f_j
iterations left cannot end within n slots if :math:`\sum_j V_j(f_j) > R n`, with r_j where it is
known. Prices of iterations, :math:`v_j = p_j \phi_j`, are a special case, which overlooks that the
last slot of a job may be used in part only. If prices do not rise with r and p, the configurations
in which no job has fewer servers and a lower level than in another one can be left out.
(reconstructed)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.memory import MOST_CELLS

from ...instance import SjfBcoInstance
from ...size_limits import refuse_many
from .configurations import modes_per_slot

#: Largest price, and most entries of the tables of values, 8 bytes each.
LARGEST_PRICE, MOST_VALUES = 10**9, MOST_CELLS
#: Most modes of all jobs together. Tuned: `benchmarks/constants.py`.
MOST_MODES = 1_000_000
#: Most that all slots together may hold at any prices. What jobs are worth is far less: at most the
#: largest price for each iteration, of which there are at most `MOST_VALUES`. By definition.
MOST_WORTH = 2**62


@dataclass(frozen=True)
class Modes:
    """The modes (r, p) of every job, in ascending order, one job after the other."""

    instance: SjfBcoInstance

    @cached_property
    def of_job(self) -> list[list[tuple[int, int]]]:
        """Return the modes of every job.

        Raises
        ------
        ModelRefused
            If there are too many of them.
        """
        rates = self.instance.rates
        counts = sum(len(rates.server_counts(j)) for j in range(len(rates.gpus)))
        refuse_many(counts * max(1, rates.max_level), MOST_MODES, "jobs: servers by levels to list")
        return [
            [(r, p) for r in rates.server_counts(j) for p in rates.levels(r)]
            for j in range(len(rates.gpus))
        ]

    @cached_property
    def first(self) -> list[int]:
        """Return where the modes of each job begin, and the number of all modes."""
        return [0, *np.cumsum([len(modes) for modes in self.of_job]).tolist()]

    @cached_property
    def number(self) -> dict[tuple[int, int, int], int]:
        """Return the number of mode (j, r, p)."""
        return {
            (j, r, p): self.first[j] + i
            for j, modes in enumerate(self.of_job)
            for i, (r, p) in enumerate(modes)
        }

    @cached_property
    def configurations(self) -> Ints:
        """Return the mode of every job plus one, 0 if it does not run.

        Raises
        ------
        ModelRefused
            If there are too many of them.
        """
        return modes_per_slot(self.instance, lambda j, r, p: self.number[j, r, p] + 1)

    @cached_property
    def no_better(self) -> list[tuple[int, int]]:
        """Return pairs of modes, the second with one server or level more, and so no better."""
        number = self.number
        return [
            (number[less], mode)
            for (j, r, p), mode in number.items()
            for less in ((j, r, p - 1), (j, r - 1, p), (j, 1, 0))
            if less in number and less != (j, r, p) and (less[1] > 1 or r == 2)
        ]


@dataclass(frozen=True)
class PriceTables:
    """Values of jobs and of a slot for several tables of prices.

    Attributes
    ----------
    worth : Ints
        V_j^r(f), at r = 0 V_j(f), shape (jobs, servers + 1, largest work + 1, tables).
    per_slot : Ints
        R, shape (tables,).
    """

    worth: Ints
    per_slot: Ints

    def refuse_many_slots(self, slots: int) -> None:
        """Refuse a number of slots whose value may pass 64-bit integers.

        Raises
        ------
        ModelRefused
        """
        value = slots * int(self.per_slot.max(initial=0))
        refuse_many(value, MOST_WORTH, "prices: what the slots can hold")


def refuse_many_values(instance: SjfBcoInstance, tables: int) -> None:
    """Refuse tables of a value for each iteration that would fill the memory.

    Raises
    ------
    ModelRefused
    """
    values = _values_of_a_table(instance) * tables
    refuse_many(values, MOST_VALUES, "jobs.iterations: values of a price for each iteration")


def most_tables(instance: SjfBcoInstance) -> int:
    """Return how many tables of prices are not refused."""
    return MOST_VALUES // _values_of_a_table(instance)


def _values_of_a_table(instance: SjfBcoInstance) -> int:
    rates = instance.rates
    return len(rates.gpus) * (rates.servers + 1) * (max(rates.iterations) + 1)


def price_tables(modes: Modes, prices: Sequence[Sequence[int]]) -> PriceTables:
    """Return the values that follow from tables of prices, one price for each mode.

    Raises
    ------
    ModelRefused
        If the values, or the configurations, are too many.
    ValueError
        If a table has not one price for each mode, a price is negative or too large, or one rises
        with the servers or the level.
    """
    rates = modes.instance.rates
    for k, of_table in enumerate(prices):
        if len(of_table) != modes.first[-1]:
            raise ValueError(f"{len(of_table)} for {modes.first[-1]} modes of jobs in table {k}")
    table = np.array(prices, dtype=np.int64).reshape(len(prices), modes.first[-1])
    if table.min(initial=0) < 0 or table.max(initial=0) > LARGEST_PRICE:
        raise ValueError(f"a price is not between 0 and {LARGEST_PRICE:,}")
    if any((table[:, more] > table[:, less]).any() for less, more in modes.no_better):
        raise ValueError("a price rises with the servers or the level of a job")
    refuse_many_values(modes.instance, len(prices))
    jobs, most = len(rates.gpus), max(rates.iterations)
    worth = np.zeros((jobs, rates.servers + 1, most + 1, len(prices)), dtype=np.int64)
    for j, of_job in enumerate(modes.of_job):
        first, work = modes.first[j], rates.iterations[j]
        ways = []
        for r in rates.server_counts(j):
            useful = [
                (rates.rate(j, r, p), table[:, first + i])
                for i, (q, p) in enumerate(of_job)
                if q == r and rates.rate(j, r, p)
            ]
            if useful:
                ways.append(r)
                _add_values(worth[j, r, : work + 1], useful)
        worth[j, 0] = worth[j, ways].min(axis=0)
    return PriceTables(worth, _per_slot(modes, table))


def _add_values(values: Ints, modes: Sequence[tuple[int, Ints]]) -> None:
    """Set V(f) for f >= 1, shape (work + 1, tables), from rates and prices of modes.

    One rate phi with its price v after the other: n slots of it leave f - n phi to those before,
    whose values V' are known, so that V(f) = min_n (n v + V'(f - n phi)). Along f, f + phi, ...
    this is the price of the slots so far plus the least of V' less them.
    """
    work, tables = len(values) - 1, values.shape[1]
    cheapest: dict[int, Ints] = {}
    for phi, price in modes:
        cheapest[phi] = np.minimum(price, cheapest.get(phi, price))
    for k, (phi, price) in enumerate(cheapest.items()):
        slots = -(-work // phi)
        prices = np.arange(slots + 1)[:, None, None] * price
        # Row 0 has f <= 0, which is worth nothing; row i has f from (i - 1) phi + 1 to i phi.
        rows = np.zeros((slots + 1, phi, tables), dtype=np.int64)
        at_work = rows.reshape(-1, tables)[phi : phi + work]
        if k:
            at_work[:] = values[1:]
            rows -= prices
            np.minimum.accumulate(rows, axis=0, out=rows)
        rows += prices
        values[1:] = at_work


def _per_slot(modes: Modes, table: Ints) -> Ints:
    """Return R for each table."""
    with_idle = np.concatenate([np.zeros((len(table), 1), dtype=np.int64), table], axis=1)
    configurations = modes.configurations
    return np.array(
        [int(row[configurations].sum(axis=1).max(initial=0)) for row in with_idle], dtype=np.int64
    )
