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
) -> MethodOutcome:
    r"""Every set of k items, then the linear relaxation rounded down.

    Return the best rounded linear program over all sets of at most k items.

    The profit is at least :math:`\frac{k}{k+m} OPT` with m rows (Frieze and Clarke 1984). Linear
    programs that cannot beat the best so far are skipped (reconstructed): the same result as
    `plain` and `frieze_clarke_literal`, tested.

    Parameters
    ----------
    instance, limits
        Deterministic.
    k : int
        Size of the largest sets.

    Raises
    ------
    ModelRefused
        If groups have several items or need one, if there are too many sets, or the numbers of the
        instance have too many digits.
    """
    return on_sets(instance, limits, k)


@method(kind="approximation", reference="Frieze and Clarke 1984, every linear program")
def frieze_clarke_literal(
    instance: KnapsackInstance,
    limits: Limits,
    *,
    k: int = 2,
) -> MethodOutcome:
    """Frieze and Clarke's algorithm with the linear programs of all sets solved, as printed.

    Parameters
    ----------
    instance, limits, k
        As `frieze_clarke`.

    Raises
    ------
    ModelRefused
        As `frieze_clarke`; and if there are too many linear programs.
    """
    return on_sets(instance, limits, k, enumeration="literal")


def on_sets(
    instance: KnapsackInstance,
    limits: Limits,
    k: int,
    *,
    complete: bool = False,
    enumeration: Literal["pruned", "literal"] = "pruned",
) -> MethodOutcome:
    """Return the outcome of the algorithm on arrays, in the instance's own numbers."""
    if instance.multiple_choice:
        raise ModelRefused("Frieze and Clarke's algorithm takes single items that may be left out")
    if k < 0:
        raise ModelRefused(f"k: {k}, expected at least 0")
    whole = scaled(instance)
    found = on_arrays.frieze_clarke(
        whole.knapsack, k, complete=complete, enumeration=enumeration, limits=limits
    )
    return outcome_of(instance, whole, found)
