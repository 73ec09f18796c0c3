r"""The evaluator: profit and capacities of a choice, in exact rational arithmetic.

.. math::
    \max \sum_i \pi_{c_i} \quad\text{so that}\quad \sum_i a^r_{c_i} \le C^r\ \forall r,

where c_i is the item chosen of group i; a group may be left out unless the instance says that
exactly one of every group is to be chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from gadgetopt.system.result import Evaluation, Violation

from .instance import Item, KnapsackInstance, KnapsackSolution


def evaluate(instance: KnapsackInstance, solution: KnapsackSolution) -> Evaluation:
    """Recompute the profit of a choice and list the constraints it violates.

    Returns
    -------
    Evaluation
        The objective is the exact profit; None if the choice names groups or items that do not
        exist. Components: number of items chosen, and the used part of the fullest row.
    """
    unknown = tuple(_unknown(instance, solution))
    if unknown:
        return Evaluation(None, unknown)
    packed = _packed(instance, solution)
    used = [sum((item.weights[r] for item in packed), Fraction(0)) for r in _rows(instance)]
    return Evaluation(
        sum((item.profit for item in packed), Fraction(0)),
        (*_left_out(instance, solution), *_overfull(instance, used)),
        {"items": len(packed), "fullest_row": _fullest(instance, used)},
    )


def _unknown(instance: KnapsackInstance, solution: KnapsackSolution) -> Iterator[Violation]:
    missing = len(instance.groups) - len(solution.chosen)
    if missing:
        yield Violation("missing_group", f"chosen of {len(instance.groups)} groups", missing)
        return
    for i, (items, c) in enumerate(zip(instance.groups, solution.chosen, strict=True)):
        if c is not None and c >= len(items):
            yield Violation("unknown_item", f"chosen[{i}]", c - len(items) + 1)


def _left_out(instance: KnapsackInstance, solution: KnapsackSolution) -> Iterator[Violation]:
    for i, c in enumerate(solution.chosen):
        if c is None and instance.exactly_one:
            yield Violation("exactly_one", f"group {i}", 1)


def _overfull(instance: KnapsackInstance, used: list[Fraction]) -> Iterator[Violation]:
    for r, (amount, capacity) in enumerate(zip(used, instance.capacities, strict=True)):
        if amount > capacity:
            yield Violation("capacity", f"row {r}", amount - capacity)


def _packed(instance: KnapsackInstance, solution: KnapsackSolution) -> list[Item]:
    pairs = zip(instance.groups, solution.chosen, strict=True)
    return [items[c] for items, c in pairs if c is not None]


def _fullest(instance: KnapsackInstance, used: list[Fraction]) -> Fraction:
    pairs = zip(used, instance.capacities, strict=True)
    return max((amount / capacity for amount, capacity in pairs if capacity), default=Fraction(0))


def _rows(instance: KnapsackInstance) -> range:
    return range(len(instance.capacities))
