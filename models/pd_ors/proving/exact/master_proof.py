r"""Proof of the bound of `branch_and_check`: a tree over `aggregated`, with lemmas.

Reconstructed. That jobs cannot meet their deadlines together,
:math:`\sum_{i \in A} \sum_{t \le d_i} y_{it} \le |A| - 1`, is a form in integer columns of
`aggregated`, so where that relaxation refutes the deadlines the row has a tree of its own. The tree
of the utility uses these lemmas like rows. Cuts and conflicts of single slots are about machines,
which `aggregated` does not have: a bound that needs them is not proved. The text is read by
`gadgetopt.proofs.tree_kernel`, which does not ask where lemmas come from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.tolerance import CLOSED_GAP, simplest_rational
from gadgetopt.system.data import ModelProof

if TYPE_CHECKING:
    from gadgetopt.proofs.lemmas.splits import Lemma
    from gadgetopt.proofs.model import Model
    from gadgetopt.solvers.standard_form import StandardForm

#: Part of the time for all lemmas. Tuned: `benchmarks/constants.py`.
LEMMAS_PART = 0.5
#: A tree of a lemma proves a bound above the integer before the one that it rounds to.
#: Tuned: `benchmarks/constants.py`.
BEYOND = Fraction(1, 10**6)


@dataclass(frozen=True)
class NoGood:
    """Columns of which less than a number are 1.

    Attributes
    ----------
    columns : tuple of int
        Binary ones.
    number : int
    """

    columns: tuple[int, ...]
    number: int


def proof_of_master(
    form: StandardForm,
    refuted: Sequence[NoGood],
    value: float,
    left_s: Callable[[], float],
) -> ModelProof | None:
    """Return a proof that `aggregated` has no more than a value; None if none is found in time.

    Parameters
    ----------
    form : StandardForm
        The compiled model of `aggregated`, all kinds of variables integer.
    refuted : sequence of NoGood
    value : float
        The utility of a decision.
    left_s : callable
        Returns the seconds that are left.
    """
    from gadgetopt.proofs.exact_model import exact_model
    from gadgetopt.proofs.files import packed
    from gadgetopt.proofs.relaxation import Relaxation
    from gadgetopt.proofs.tree_kernel import proved
    from gadgetopt.proofs.tree_producer import need_for, tree_proof
    from gadgetopt.proofs.tree_search import TreeSearch
    from gadgetopt.trust.proving import certificate_of

    try:
        model = exact_model(form)
        target = model.least(simplest_rational(value))
        end_s = left_s() * (1 - LEMMAS_PART)
        lemmas = []
        for row in refuted:
            lemma = lemma_of(form, model, row, lambda: left_s() - end_s)
            if lemma is not None:
                lemmas.append(lemma)
        if not lemmas:
            text = tree_proof(form, model, target, left_s)
        else:
            tree = TreeSearch(model, Relaxation(form, left_s), need_for(model, target), lemmas)
            tree.run()
            text = tree.text() if tree.lines else None
    except ModelRefused:
        return None
    if text is None:
        return None
    least = proved(model, text.lines)
    if least is None or float(model.bound(least)) > value * (1 + CLOSED_GAP):
        return None
    return certificate_of("aggregated", model, packed(text.lines))


def lemma_of(
    form: StandardForm, model: Model, row: NoGood, left_s: Callable[[], float]
) -> Lemma | None:
    """Return a row with its tree; None if there is no tree in time."""
    from gadgetopt.proofs.lemmas.splits import Lemma
    from gadgetopt.proofs.relaxation import Relaxation
    from gadgetopt.proofs.tree_search import TreeSearch

    if left_s() <= 0:
        return None
    costs = np.zeros(len(form.columns))
    costs[list(row.columns)] = -1.0
    counted = (sorted(row.columns), [-1] * len(row.columns))
    of_form = replace(form, c=costs, offset=0.0, sense="min")
    of_model = model._replace(costs=counted, scale=1, offset=0, sense="min")
    need = BEYOND - row.number
    tree = TreeSearch(of_model, Relaxation(of_form, left_s), need)
    whole = tree.run(lambda: left_s() > 0)
    if not whole or not tree.lines or tree.interrupted or tree.need < need:
        return None
    words = (f"{j} {a}" for j, a in zip(*counted, strict=True))
    lines = [" ".join(["lemma", *words]), *tree.text().lines[1:]]
    return Lemma(counted, Fraction(1 - row.number), lines)
