"""Greedy, step by step.

Letters, as in the paper: C the capacity, w_i the weight and v_i the value of item i.
"""

from __future__ import annotations

from fractions import Fraction

from ..instance import SkeletonInstance, SkeletonSolution


def greedy(instance: SkeletonInstance) -> SkeletonSolution:
    """Return what greedy chooses."""
    C, w, v = instance.capacity_kg, instance.weight_kg, instance.value
    # 1: Leave out the items that do not fit alone.
    fitting = [i for i in range(len(w)) if w[i] <= C]
    # 2: Sort the others by value per weight, the largest first, ties by index.
    order = sorted(fitting, key=lambda i: (-Fraction(v[i], w[i]), i))
    # 3: Take each that fits beside those taken.
    taken: list[int] = []
    for i in order:
        if sum(w[k] for k in taken) + w[i] <= C:
            taken.append(i)
    # 4: If the most valuable item is worth more than all of these, take it instead.
    best = max(fitting, key=lambda i: v[i], default=None)
    if best is not None and v[best] > sum(v[k] for k in taken):
        taken = [best]
    return SkeletonSolution(chosen=tuple(taken))
