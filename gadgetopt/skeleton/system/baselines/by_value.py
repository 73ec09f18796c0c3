"""The most valuable items first."""

from __future__ import annotations

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..instance import SkeletonInstance, SkeletonSolution


@method(kind="baseline", reference="folklore")
def by_value(instance: SkeletonInstance) -> MethodOutcome:
    """Items by value alone, whatever they weigh."""
    taken, room_kg = [], instance.capacity_kg
    for i in sorted(range(len(instance.value)), key=lambda i: (-instance.value[i], i)):
        if instance.weight_kg[i] <= room_kg:
            taken.append(i)
            room_kg -= instance.weight_kg[i]
    return MethodOutcome(solution=SkeletonSolution(chosen=tuple(taken)))
