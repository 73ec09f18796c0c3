"""Trees that prove the offline bound on a model of which it is the optimum or a relaxation."""

from __future__ import annotations

from collections.abc import Callable

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.tolerance import Number, simplest_rational
from gadgetopt.system.data import ModelProof

from ...instance import GadgetInstance
from ..formulations import (
    circulation,
    epoch_relaxation,
    ring_counts,
    tree,
)

#: The formulations that offline bounds come from.
BUILD: dict[str, Callable[[GadgetInstance], object]] = {
    "epochs": epoch_relaxation.build,
    "ring_counts": ring_counts.build,
    "tree": tree.build,
    "circulation": circulation.build,
}


def tree_of_bound(
    instance: GadgetInstance, name: str, bound: Number, left_s: Callable[[], float]
) -> ModelProof | None:
    """Return a proof of a bound on a formulation, or of what was proved of it in time.

    Parameters
    ----------
    instance : GadgetInstance
    name : str
        One of `BUILD`.
    bound : Number
    left_s : callable
        Returns the seconds that are left.
    """
    from gadgetopt.proofs.exact_model import exact_model
    from gadgetopt.proofs.files import packed
    from gadgetopt.proofs.tree_producer import tree_proof
    from gadgetopt.solvers.dual_bounds import rounded_number
    from gadgetopt.solvers.standard_form import compile_model
    from gadgetopt.trust.proving import certificate_of

    if rounded_number(instance) is not None:
        return None
    try:
        form = compile_model(BUILD[name](instance))
        model = exact_model(form)
        text = tree_proof(form, model, model.least(simplest_rational(bound)), left_s)
    except ModelRefused:
        return None
    return None if text is None else certificate_of(name, model, packed(text.lines))
