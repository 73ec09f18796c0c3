"""A tree that proves a placement optimal, over the contents that prices leave."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array

from gadgetopt.errors import ModelRefused
from gadgetopt.proofs.files import packed
from gadgetopt.proofs.model import Model
from gadgetopt.proofs.tree_kernel import proved
from gadgetopt.proofs.tree_producer import need_for, tree_proof
from gadgetopt.solvers.standard_form import StandardForm

from ..certificate import Closing, PlacementCertificate
from ..closing_checks import closing
from ..instance import PlacementInstance


def proof_of_optimum(
    instance: PlacementInstance,
    prices: tuple[Fraction, ...],
    target_s: Fraction,
    left_s: Callable[[], float],
    *,
    folded: bool,
) -> PlacementCertificate | None:
    """Return a proof that no placement costs less, None if there is none in the time that is left.

    Parameters
    ----------
    prices : tuple of Fraction, shape (jobs,)
    target_s : Fraction
        Sum of completion times of the best placement.
    left_s : callable
    folded : bool
        Leave racks out.
    """
    try:
        model = closing(instance, prices, target_s, folded=folded).model
        least = model.least(target_s)
        text = tree_proof(standard_form(model), model, least, left_s)
        if text is None:
            return None
        reached = proved(model, text.lines)
    except (ModelRefused, ValueError):  # too large, or numbers that doubles do not hold
        return None
    if reached is not None and reached < need_for(model, least):
        return None
    proof = Closing(prices=prices, target_s=target_s, folded=folded, proof=packed(text.lines))
    return PlacementCertificate(proof=proof)


def standard_form(model: Model) -> StandardForm:
    """Return a model of whole coefficients in doubles, as a solver takes it."""
    columns = len(model.integer)
    row = [i for i, r in enumerate(model.rows) for _ in r.columns]
    column = [j for r in model.rows for j in r.columns]
    value = [float(a) for r in model.rows for a in r.coefficients]
    costs = np.zeros(columns)
    costs[model.costs[0]] = [float(Fraction(a, model.scale)) for a in model.costs[1]]
    lower = [-np.inf if r.lower is None else float(r.lower) for r in model.rows]
    upper = [np.inf if r.upper is None else float(r.upper) for r in model.rows]
    return StandardForm(
        columns=[None] * columns,
        col_lower=np.array([float(x or 0) for x in model.lower]),
        col_upper=np.array([np.inf if x is None else float(x) for x in model.upper]),
        integer=np.array(model.integer, dtype=np.bool_),
        c=costs,
        offset=float(model.offset),
        sense="min",
        A=csr_array((value, (row, column)), shape=(len(model.rows), columns)),
        row_lower=np.array(lower),
        row_upper=np.array(upper),
        rows=[None] * len(model.rows),
        unused=[],
    )
