"""Trees that prove a placement optimal: over the contents that prices leave, or over F2."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array

from gadgetopt.errors import ModelRefused
from gadgetopt.proofs.exact_model import exact_model
from gadgetopt.proofs.files import packed
from gadgetopt.proofs.model import Model
from gadgetopt.proofs.tree_kernel import proved
from gadgetopt.proofs.tree_producer import TreeProof, need_for
from gadgetopt.solvers.dual_bounds import rounded_number
from gadgetopt.solvers.standard_form import StandardForm, compile_model
from gadgetopt.system.data import ModelProof
from gadgetopt.trust.proving import certificate_of

from ...instance import PlacementInstance
from ..certificate.check import (
    Closing,
    PlacementCertificate,
)
from ..certificate.closing import closing
from ..certificate.prices import Price
from ..formulations import patterns

#: Seconds for the first tree, and how many times as much the next one has.
#: Tuned: `benchmarks/constants.py`.
FIRST_S, GROWTH = 0.5, 4.0


def proof_of_optimum(
    instance: PlacementInstance,
    prices: tuple[Price, ...],
    target_s: Fraction,
    left_s: Callable[[], float],
    *,
    folded: bool,
) -> PlacementCertificate | None:
    """Return a proof that no placement costs less, None if there is none in the time that is left.

    Parameters
    ----------
    prices : tuple of Fraction or of tuples of them, shape (jobs,)
    target_s : Fraction
        Sum of completion times of the best placement.
    left_s : callable
    folded : bool
        Leave racks out.
    """
    try:
        model = closing(
            instance, prices, target_s, folded=folded, stopped=lambda: left_s() <= 0
        ).model
        lines = _tree(standard_form(model), model, model.least(target_s), left_s)
    except (ModelRefused, ValueError):  # too large, or numbers that doubles do not hold
        return None
    if lines is None:
        return None
    proof = Closing(prices=prices, target_s=target_s, folded=folded, proof=packed(lines))
    return PlacementCertificate(proof=proof)


def proof_over_patterns(
    instance: PlacementInstance, target: Fraction, left_s: Callable[[], float]
) -> ModelProof | None:
    """Return a proof of the optimum over F2, which holds for measured slowdowns too.

    Parameters
    ----------
    target : Fraction
        Mean completion time of the best placement.
    left_s : callable
    """
    if rounded_number(instance) is not None:
        return None
    try:
        form = compile_model(patterns.build(instance))
        model = exact_model(form)
        lines = _tree(form, model, model.least(target), left_s)
    except ModelRefused:
        return None
    return None if lines is None else certificate_of("patterns", model, packed(lines))


def _tree(
    form: StandardForm, model: Model, least: Fraction, left_s: Callable[[], float]
) -> list[str] | None:
    """Return the lines of a tree that proves a target, None if there is none in time.

    Cuts close most of the gap here, and a tree has the earlier cuts the less time it is given.
    """
    seconds = FIRST_S
    while left_s() > 0:
        end = max(0.0, left_s() - seconds)

        def step_s(end: float = end) -> float:
            return left_s() - end

        tree = TreeProof(form, model, least, step_s, by_turns=True)
        if not tree.grow_plain():
            tree.grow()
        text = tree.text()
        if text is not None:
            reached = proved(model, text.lines)
            if reached is None or reached >= need_for(model, least):
                return text.lines
        if tree.interrupted:
            return None
        seconds *= GROWTH
    return None


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
