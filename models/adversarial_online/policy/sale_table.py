r"""How a table of sale probabilities is judged: replay, violations, and its worst sequence.

The parts sold and the highest level seen are a state that the sequence alone determines, so that
the dynamic program of `subproblems.adversary` finds the worst sequence, exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.exact import common_denominator
from gadgetopt.system.result import Violation

from ..subproblems.adversary import worst_sequence
from ..subproblems.automaton import Automaton
from .instance import AdversarialOnlinePolicyInstance, SaleTable


@dataclass(frozen=True)
class Worst:
    """A worst sequence of levels for a policy, with both welfares."""

    sequence: tuple[int, ...]
    welfare: Fraction
    offline_welfare: Fraction


def table_violations(
    instance: AdversarialOnlinePolicyInstance, table: SaleTable
) -> Iterator[Violation]:
    """Yield a wrong shape, sales of more than a unit, and sales of more than there is."""
    J, m = len(instance.levels), table.parts_per_unit
    most = instance.capacity_units * m
    shape = (len(table.parts), {len(row) for row in table.parts})
    cells = {len(cell) for row in table.parts for cell in row}
    if shape != (most + 1, {J + 1}) or cells != {J}:
        yield Violation("shape", f"sale_table.parts of {most + 1} x {J + 1} x {J}", 1)
        return
    for y, row in enumerate(table.parts):
        for h, cell in enumerate(row):
            for j, parts in enumerate(cell):
                where = f"sale_table.parts[{y}][{h}][{j}]"
                if parts > m:
                    yield Violation("one_unit", where, parts - m)
                if y + parts > most:
                    yield Violation("capacity", where, y + parts - most)


def welfare_of_table(
    instance: AdversarialOnlinePolicyInstance, table: SaleTable, sequence: Sequence[int]
) -> Fraction:
    """Return the expected welfare of a table on a sequence of levels."""
    y = h = 0
    welfare = Fraction(0)
    for j in sequence:
        parts = table.parts[y][h][j]
        welfare += instance.levels[j] * parts
        y, h = y + parts, max(h, j + 1)
    return welfare / table.parts_per_unit


def worst_of_table(instance: AdversarialOnlinePolicyInstance, table: SaleTable) -> Worst:
    """Return a worst sequence of a table without violations.

    Raises
    ------
    ModelRefused
        If the dynamic program would be too large.
    """
    a = _automaton(instance, table)
    found = worst_sequence(a, instance.payoff, instance.horizon)
    return Worst(found.arrivals, Fraction(found.online, a.scale), Fraction(found.offline, a.scale))


def _automaton(instance: AdversarialOnlinePolicyInstance, table: SaleTable) -> Automaton:
    """Return the automaton of a table: states are parts sold and the highest level seen."""
    J, k, m = len(instance.levels), instance.capacity_units, table.parts_per_unit
    money = common_denominator(instance.levels)
    amounts = [int(level * money) for level in instance.levels]
    number = {(0, 0): 0}
    states = [(0, 0)]
    after, earned = [], []
    for y, h in states:
        row = []
        for j in range(J):
            state = y + table.parts[y][h][j], max(h, j + 1)
            if state not in number:
                number[state] = len(states)
                states.append(state)
            row.append(number[state])
        after.append(row)
        earned.append([amounts[j] * table.parts[y][h][j] for j in range(J)])
    taken = np.minimum(np.arange(1, k + 2)[:, None], k + 1).repeat(J, axis=1)
    return Automaton(
        after=np.array(after, dtype=np.int64),
        earned=earned,
        taken=taken.astype(np.int64),
        worth=[amount * m for amount in amounts],
        scale=money * m,
    )
