"""Frieze and Clarke's approximation algorithm on an instance."""

from __future__ import annotations

from typing import Literal

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.knapsack import frieze_clarke as on_arrays
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import KnapsackInstance
from ..scaling import scaled
from ..subproblems.outcome import outcome_of


@method(kind="approximation", reference="Frieze and Clarke 1984")
def frieze_clarke(
    instance: KnapsackInstance,
    limits: Limits,
    *,
    k: int = 2,
    complete: bool = False,
    enumeration: Literal["pruned", "literal"] = "pruned",
) -> MethodOutcome:
    r"""Every set of k items, then the linear relaxation rounded down.

    Return the best rounded linear program over all sets of at most k items.

    The profit is at least :math:`\frac{k}{k+m} OPT` with m rows (Frieze and Clarke 1984).

    Parameters
    ----------
    instance, limits
        Deterministic.
    k : int
        Size of the largest sets.
    complete : bool
        Add items that still fit to each rounded solution (reconstructed).
    enumeration : "pruned" or "literal"
        Skip the linear programs that cannot beat the best so far (reconstructed), or solve all.

    Raises
    ------
    ModelRefused
        If groups have several items or need one, if there are too many sets, or the numbers of the
        instance have too many digits.
    """
    if instance.multiple_choice:
        raise ModelRefused("Frieze and Clarke's algorithm takes single items that may be left out")
    if k < 0:
        raise ModelRefused(f"k: {k}, expected at least 0")
    whole = scaled(instance)
    found = on_arrays.frieze_clarke(
        whole.knapsack, k, complete=complete, enumeration=enumeration, limits=limits
    )
    return outcome_of(instance, whole, found)
