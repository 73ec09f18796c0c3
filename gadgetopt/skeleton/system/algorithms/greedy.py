"""Greedy: by value per weight, or the most valuable item."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..instance import SkeletonInstance, SkeletonSolution


@method(kind="approximation", reference="Dantzig 1957")
def greedy(instance: SkeletonInstance) -> MethodOutcome:
    r"""Items by value per weight, or the most valuable one.

    The value is at least

    .. math:: \frac{1}{2}\, OPT,

    as the items up to the first that does not fit are worth at least the linear relaxation.

    The same result as `plain`, tested.

    Parameters
    ----------
    instance : SkeletonInstance

    Notes
    -----
    O(n log n).

    References
    ----------
    G. B. Dantzig, "Discrete-Variable Extremum Problems", Operations Research 5 (1957) 266-288.
    """
    taken = greedy_choice(instance)
    return MethodOutcome(
        solution=SkeletonSolution(chosen=taken),
        claimed_objective=sum(instance.value[i] for i in taken),
    )


def greedy_choice(instance: SkeletonInstance) -> tuple[int, ...]:
    """Return the items that greedy takes."""
    taken, room_kg = [], instance.capacity_kg
    order = by_density(instance)
    for i in order:
        if instance.weight_kg[i] <= room_kg:
            taken.append(i)
            room_kg -= instance.weight_kg[i]
    best = max(sorted(order), key=lambda i: instance.value[i], default=None)
    if best is not None and instance.value[best] > sum(instance.value[i] for i in taken):
        taken = [best]
    return tuple(taken)


def by_density(instance: SkeletonInstance) -> list[int]:
    """Return the items that fit alone, by value per weight, the largest first, ties by index."""
    w, v = instance.weight_kg, instance.value
    fitting = (i for i in range(len(w)) if w[i] <= instance.capacity_kg)
    return sorted(fitting, key=lambda i: (-Fraction(v[i], w[i]), i))
