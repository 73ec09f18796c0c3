r"""The game in sequence form: chances of stocks and sales after every history.

Sets: histories h of 1 to N types, :math:`h^-` without the last request; stocks s that sales may
have led to. The last request of h has the value :math:`v_h`; with stock s before it, it leaves
:math:`s \ominus h` unsold and :math:`s \oplus h` sold. Variables: the ratio :math:`\alpha`, and
:math:`Q_{hs} = \alpha q_{hs}`, :math:`Y_{hs} = \alpha y_{hs}`, where :math:`q_{hs}` is the
probability of stock s after h, and :math:`y_{hs}` that of stock s before the last request of h and
a sale to it.

.. math::
    \min\ & \alpha                                                                   \tag{S1} \\
    & \textstyle\sum_{h' \preceq h} \sum_s v_{h'} Y_{h's} \ge OPT(h) \quad \forall h \tag{S2} \\
    & Q_{h s'} = \textstyle\sum_{s \ominus h = s'} (Q_{h^- s} - Y_{hs})
      + \sum_{s \oplus h = s'} Y_{hs} \quad \forall h, s'                            \tag{S3} \\
    & Y_{hs} \le Q_{h^- s} \quad \forall h, s                                        \tag{S4} \\
    & Q_{\emptyset s_0} = \alpha, \quad Q, Y \ge 0; \quad Y_{hs} = 0
      \text{ if the bundle does not fit}                                             \tag{S5}

Divided by :math:`\alpha`, that is the maximum of :math:`\rho = 1/\alpha` with
:math:`\sum v y \ge \rho\,OPT(h)` (reconstructed). It is exact: the adversary chooses the sequence
beforehand and may stop at any prefix; what a seller earns, and what fits, depends on its past by
the stock alone, so nothing is lost if it draws anew in every round.

`posted_sequence_form` adds, for two histories that differ in the last request only, which has the
same bundle and duration in both and the next higher value in g,

.. math:: Y_{hs} \le Y_{gs} \tag{S6}

A price for the bundle is posted before the value is seen, so a sale cannot become less probable
with the value.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import pyomo.core as pyo

from gadgetopt.numbers.pyomo_numbers import coefficient, coefficients
from gadgetopt.solvers.exact_optimum.values import exact_values
from gadgetopt.system.declaring import formulation

from ..instance import AdversarialBundlesInstance, AdversarialBundlesSolution
from ..subproblems.rounding import exact_chance
from ..subproblems.tree import ROOT, Tree, full_tree

#: Pairs of histories and stocks of a model that is still built. Tuned: `benchmarks/constants.py`.
MOST_PAIRS = 25_000


@formulation(model_class="LP", equations="(S1)-(S5)")
def build(instance: AdversarialBundlesInstance) -> pyo.ConcreteModel:
    """Chances of stocks and sales after every history.

    Raises
    ------
    ModelRefused
        If there are too many histories.
    """
    return tree_model(instance, full_tree(instance, MOST_PAIRS))


def decode(
    m: pyo.ConcreteModel, instance: AdversarialBundlesInstance
) -> AdversarialBundlesSolution:
    """Return the seller: that of the exact optimum, or doubles made exact."""
    exact = exact_values(m)
    tree = full_tree(instance, MOST_PAIRS)
    if exact is not None:
        scale = exact[m.alpha]
        sales = {key: exact[m.Y[key]] / scale for key in m.sales}
    else:
        doubles = {key: pyo.value(m.Y[key]) / pyo.value(m.alpha) for key in m.sales}
        sales = held_exactly(tree, doubles)
    return seller_of(instance, tree, sales)


@formulation(
    name="posted_sequence_form",
    model_class="LP",
    strength="restriction",
    equations="(S1)-(S6)",
    decode=decode,
)
def build_posted(instance: AdversarialBundlesInstance) -> pyo.ConcreteModel:
    """The same with a price that is posted before the value is seen.

    Raises
    ------
    ModelRefused
        If there are too many histories.
    """
    tree = full_tree(instance, MOST_PAIRS)
    m = tree_model(instance, tree)
    at = {history: h for h, history in enumerate(tree.history)}
    next_value = {j: i for alike in instance.prices_alike for j, i in pairwise(alike)}
    lower = [
        (h, s)
        for h, s in m.sales
        if tree.history[h][-1] in next_value  # the bundle fits for both, or for neither
    ]

    @m.Constraint(lower, doc="(S6): a higher value is sold to at least as probably")
    def posted(m: Any, h: int, s: int) -> Any:
        *before, j = tree.history[h]
        return m.Y[h, s] <= m.Y[at[*before, next_value[j]], s]

    return m


def tree_model(instance: AdversarialBundlesInstance, tree: Tree) -> pyo.ConcreteModel:
    """Build (S1)-(S5) on a set of histories."""
    values = coefficients(kind.value for kind in instance.types)
    m = pyo.ConcreteModel("sequence_form")
    m.H = pyo.RangeSet(0, len(tree) - 1)
    m.held = pyo.Set(dimen=2, initialize=[(h, s) for h in m.H for s in tree.best[h]])
    m.sales = pyo.Set(
        dimen=2,
        initialize=[(h, s) for h in m.H for s in tree.before(h) if tree.moves(h, s)[1] >= 0],
    )
    m.alpha = pyo.Var(domain=pyo.NonNegativeReals, doc="the ratio")
    m.Q = pyo.Var(m.held, domain=pyo.NonNegativeReals, doc="(S5): chance of a stock, times alpha")
    m.Y = pyo.Var(m.sales, domain=pyo.NonNegativeReals, doc="(S5): chance of a sale, times alpha")
    earned: list[Any] = []
    into: dict[tuple[int, int], Any] = {}
    for h in m.H:
        here = sum(m.Y[h, s] for s in tree.before(h) if (h, s) in m.sales)
        parent = tree.parent[h]
        before = 0 if parent == ROOT else earned[parent]
        earned.append(before + values[tree.history[h][-1]] * here)
        for s in tree.before(h):
            kept, sold = tree.moves(h, s)
            into[h, kept] = into.get((h, kept), 0) + _held(m, parent, s)
            if sold >= 0:
                into[h, kept] -= m.Y[h, s]
                into[h, sold] = into.get((h, sold), 0) + m.Y[h, s]

    @m.Constraint(m.H, doc="(S2): enough is earned if the sequence stops here")
    def robust(m: Any, h: int) -> Any:
        return earned[h] >= coefficient(tree.optimum(h))

    @m.Constraint(m.held, doc="(S3): what sales make of the stock")
    def stock(m: Any, h: int, s: int) -> Any:
        return m.Q[h, s] == into[h, s]

    @m.Constraint(m.sales, doc="(S4): a stock has to be held to be sold from")
    def chance(m: Any, h: int, s: int) -> Any:
        return m.Y[h, s] <= _held(m, tree.parent[h], s)

    m.objective = pyo.Objective(expr=m.alpha, doc="(S1): the worst case")
    return m


def _held(m: Any, h: int, s: int) -> Any:
    """Return the chance of a stock after a history; at the beginning it is alpha."""
    return m.alpha if h == ROOT else m.Q[h, s]


def held_exactly(
    tree: Tree, sales: dict[tuple[int, int], float]
) -> dict[tuple[int, int], Fraction]:
    """Return exact chances of sales, no larger than those of the stocks they come from."""
    exact: dict[tuple[int, int], Fraction] = {}
    held: list[dict[int, Fraction]] = []
    for h in range(len(tree)):
        before = {0: Fraction(1)} if tree.parent[h] == ROOT else held[tree.parent[h]]
        after: dict[int, Fraction] = dict.fromkeys(tree.best[h], Fraction(0))
        for s, most in before.items():
            kept, sold = tree.moves(h, s)
            x = Fraction(0)
            if sold >= 0:
                x = exact[h, s] = exact_chance(sales[h, s], most)
                after[sold] += x
            after[kept] += most - x
        held.append(after)
    return exact


def seller_of(
    instance: AdversarialBundlesInstance, tree: Tree, sales: dict[tuple[int, int], Fraction]
) -> AdversarialBundlesSolution:
    """Return the seller with these chances of sales; the tree has all histories, in order."""
    of_round = instance.stocks.of_round
    return AdversarialBundlesSolution(
        sale_probability=tuple(
            sales.get((h, s), Fraction(0))
            for h, history in enumerate(tree.history)
            for s in range(len(of_round[len(history) - 1]))
        )
    )
