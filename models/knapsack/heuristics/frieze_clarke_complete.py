"""Frieze and Clarke's algorithm, completed: items that still fit are added."""

from __future__ import annotations

from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.frieze_clarke import on_sets
from ..instance import KnapsackInstance


@method(kind="approximation", reference="Frieze and Clarke 1984, completed (reconstructed)")
def frieze_clarke_complete(
    instance: KnapsackInstance,
    limits: Limits,
    *,
    k: int = 2,
) -> MethodOutcome:
    """Frieze and Clarke's algorithm with items added greedily to each rounded linear program.

    It is never worse, and so has the same guarantee.

    Parameters
    ----------
    instance, limits, k
        As `frieze_clarke`.

    Raises
    ------
    ModelRefused
        As `frieze_clarke`.
    """
    return on_sets(instance, limits, k, complete=True)
