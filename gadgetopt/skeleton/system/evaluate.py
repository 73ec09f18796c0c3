r"""The evaluator: the value of a choice, in whole numbers.

.. math:: \max \sum_{i \in S} v_i \quad \text{subject to} \quad \sum_{i \in S} w_i \le C

It is written from the statement of the problem, before any formulation, and shares no code with
one.
"""

from __future__ import annotations

from gadgetopt.system.result import Evaluation, Violation

from .instance import SkeletonInstance, SkeletonSolution


def evaluate(
    instance: SkeletonInstance,
    solution: SkeletonSolution,
) -> Evaluation:
    """Recompute the value of a choice, and which constraints it violates.

    Returns
    -------
    Evaluation
        The objective is None if an item does not exist or is chosen twice.
    """
    chosen = solution.chosen
    for k, i in enumerate(chosen):
        if i >= len(instance.weight_kg):
            return Evaluation(None, (Violation("unknown_item", f"chosen[{k}]", 1),))
        if i in chosen[:k]:
            return Evaluation(None, (Violation("repeated_item", f"chosen[{k}]", 1),))
    weight_kg = sum(instance.weight_kg[i] for i in chosen)
    excess_kg = weight_kg - instance.capacity_kg
    violations = (Violation("capacity", "all items", excess_kg),) if excess_kg > 0 else ()
    return Evaluation(sum(instance.value[i] for i in chosen), violations, {"weight_kg": weight_kg})
