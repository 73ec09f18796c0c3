r"""The linear program of the best randomised policy, on the tree of histories, (2).

Sets: histories h of H with all their prefixes :math:`h' \preceq h`; the last buyer of h has the
value :math:`v_h`. Variables: the ratio :math:`\alpha`, and :math:`X_h = \alpha x_h`, where
:math:`x_h` is the probability with which the last buyer of h gets a unit. Divided by
:math:`\alpha`, that is the maximum of :math:`\rho = 1/\alpha` with
:math:`\sum_{h' \preceq h} v_{h'} x_{h'} \ge \rho\,OPT(h)`.

.. math::
    \min\ & \alpha                                                                        \tag{2} \\
    & \textstyle\sum_{h' \preceq h} v_{h'} X_{h'} \ge OPT(h)           \quad \forall h   \tag{2a} \\
    & \textstyle\sum_{h' \preceq h} X_{h'} \le k \alpha \quad \forall \text{ leaves } h \tag{2b} \\
    & \textstyle\sum_{h' \preceq p} v_{h'} X_{h'} \ge c\,OPT(p)\,\alpha
      \quad \forall \text{ predictions } p                                               \tag{2c} \\
    & 0 \le X_h \le \alpha                                                               \tag{2d}

For the regret :math:`\delta` is minimised with :math:`\sum v_{h'} x_{h'} \ge OPT(h) - \delta` and
1 for :math:`\alpha` elsewhere. The adversary chooses the sequence beforehand and may stop at any
prefix; probabilities with :math:`\sum x \le k` are realised by systematic sampling with one seed.
So the program is exact on the tree of all histories. (2c) is the row of learning-augmented
algorithms: consistency c on predictions, robustness elsewhere (reconstructed).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.numbers.pyomo_numbers import coefficient, coefficients
from gadgetopt.solvers.exact_optimum.values import exact_values
from gadgetopt.system.declaring import formulation

from ..instance import AdversarialOnlinePolicyInstance, AdversarialOnlinePolicySolution
from ..subproblems.exactly import within_capacity
from ..subproblems.trees import Tree, full_tree

#: Histories of a model that is still built. Tuned: `benchmarks/constants.py`.
MOST_HISTORIES = 25_000


@formulation(model_class="LP", equations="(2), (2a)-(2d)")
def build(instance: AdversarialOnlinePolicyInstance) -> pyo.ConcreteModel:
    """A sale probability of every history.

    Raises
    ------
    ModelRefused
        If there are too many histories.
    """
    return tree_model(instance, full_tree(instance, MOST_HISTORIES))


def tree_model(instance: AdversarialOnlinePolicyInstance, tree: Tree) -> pyo.ConcreteModel:
    """Build (2)-(2d) on a set of histories; values are read as the instance's decimals."""
    ratio = instance.payoff == "ratio"
    value = coefficients(instance.levels[j] for j in tree.trie.level)
    at = {h: i for i, h in enumerate(tree.histories)}
    m = pyo.ConcreteModel("history_tree")
    m.H = pyo.RangeSet(0, len(tree.histories) - 1)
    m.X = pyo.Var(m.H, domain=pyo.NonNegativeReals, doc="(2d): sale probability, times alpha")
    if ratio:
        m.alpha = pyo.Var(domain=pyo.NonNegativeReals, doc="the ratio")
        scale: Any = m.alpha
    else:
        m.delta = pyo.Var(domain=pyo.NonNegativeReals, doc="the regret")
        scale = 1
    earned = {h: sum(value[i] * m.X[i] for i in tree.path(h)) for h in m.H}

    @m.Constraint(m.H, doc="(2a): enough is earned if the sequence stops here")
    def robust(m: Any, h: int) -> Any:
        return earned[h] + (0 if ratio else m.delta) >= coefficient(tree.optimum[h])

    @m.Constraint(tree.leaves, doc="(2b): no more than k units are sold")
    def units(m: Any, h: int) -> Any:
        return sum(m.X[i] for i in tree.path(h)) <= instance.capacity_units * scale

    @m.Constraint(range(len(instance.predictions)), doc="(2c): consistency")
    def consistent(m: Any, i: int) -> Any:
        h = at[instance.predictions[i]]
        wanted = coefficient(Fraction(instance.consistency or 0) * tree.optimum[h])
        return earned[h] >= wanted * scale

    @m.Constraint(m.H, doc="(2d): a buyer gets at most one unit")
    def one_unit(m: Any, h: int) -> Any:
        return m.X[h] <= scale

    m.objective = pyo.Objective(expr=m.alpha if ratio else m.delta, doc="(2): the worst case")
    return m


def decode(
    m: pyo.ConcreteModel, instance: AdversarialOnlinePolicyInstance
) -> AdversarialOnlinePolicySolution:
    """Return the sale probabilities: those of the exact optimum, or doubles made exact."""
    ratio, exact = instance.payoff == "ratio", exact_values(m)
    if exact is not None:
        scale = exact[m.alpha] if ratio else 1
        return AdversarialOnlinePolicySolution(
            sale_probability=tuple(exact[m.X[h]] / scale for h in m.H)
        )
    alpha = pyo.value(m.alpha) if ratio else 1.0
    drawn = [pyo.value(m.X[h]) / alpha for h in m.H]
    return AdversarialOnlinePolicySolution(sale_probability=within_capacity(instance, drawn))
