"""Branch and bound: an item is taken or left, the one of the largest value per weight first."""

from __future__ import annotations

from collections.abc import Sequence

from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...algorithms.greedy import by_density, greedy_choice
from ...instance import SkeletonInstance, SkeletonSolution
from ..bounds.price import best_price
from ..certificate import check_bound


@method(kind="exact", reference="Horowitz and Sahni 1974")
def branch_and_bound(instance: SkeletonInstance, limits: Limits) -> MethodOutcome:
    """Depth-first search, from greedy's choice on, bounded by the linear relaxation.

    If the price of weight proves the optimum, its certificate is handed back; else the bound is the
    search's own word.
    """
    search: Search[tuple[int, ...]] = Search("max", limits)
    first = greedy_choice(instance)
    search.offer(sum(instance.value[i] for i in first), first)
    certificate = best_price(instance)
    search.prove(check_bound(instance, certificate), certificate)
    with search.interruptible():
        _explore(instance, search)
    return search.outcome(SkeletonSolution(chosen=search.best or ()))


def _explore(instance: SkeletonInstance, search: Search[tuple[int, ...]]) -> None:
    """Search all choices that may be better than the best one; prove it the best at the end."""
    order = by_density(instance)
    # Choices to go on with: how many items are decided, the room left, the value, the items.
    stack: list[tuple[int, int, int, tuple[int, ...]]] = [(0, instance.capacity_kg, 0, ())]
    while stack and not search.over:
        k, room_kg, value, taken = stack.pop()
        search.offer(value, taken)
        if value + _most_of(instance, order[k:], room_kg) <= search.value:
            continue  # what is left cannot beat the best choice
        i, without = order[k], (k + 1, room_kg, value, taken)
        stack.append(without)
        room_kg -= instance.weight_kg[i]
        if room_kg >= 0:
            stack.append((k + 1, room_kg, value + instance.value[i], (*taken, i)))
    if not stack:
        search.prove(search.value)


def _most_of(instance: SkeletonInstance, items: Sequence[int], room_kg: int) -> int:
    """Return the most that items can be worth, if the last one may be taken in part."""
    most = 0
    for i in items:
        w, v = instance.weight_kg[i], instance.value[i]
        if w > room_kg:
            return most + v * room_kg // w
        most, room_kg = most + v, room_kg - w
    return most
