r"""The adversary's program: the lottery over sequences against which the best seller earns least.

Histories h and stocks s as in `formulations.sequence_form`. Variables: weights
:math:`\lambda_h \ge 0`; :math:`V_{hs}`, the most that is earned after h with stock s;
:math:`U_{hs}`, the same with stock s just before the last request of h.

.. math::
    \max\ & \textstyle\sum_h \lambda_h OPT(h)                                          \tag{A1} \\
    & U_{hs} \ge V_{h, s \ominus h} \quad \forall h, s                                 \tag{A2} \\
    & U_{hs} \ge v_h \textstyle\sum_{h' \succeq h} \lambda_{h'} + V_{h, s \oplus h}
      \quad \forall h, s \text{ where the bundle fits}                                 \tag{A3} \\
    & V_{hs} \ge \textstyle\sum_j U_{hj, s} \quad \forall h, s, \qquad
      1 \ge \sum_j U_{j s_0}                                                           \tag{A4}

It is written from the adversary's side, not as the dual of (S1)-(S5), and has the same optimum.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import SolverError
from gadgetopt.numbers.pyomo_numbers import coefficient, coefficients
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import solve_model
from gadgetopt.solvers.exact_optimum.values import exact_values
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...instance import (
    AdversarialBundlesCertificate,
    AdversarialBundlesInstance,
    WeightedSequence,
)
from ...subproblems.rounding import near
from ...subproblems.tree import ROOT, Tree, full_tree
from ..certificate import check_bound

#: Pairs of histories and stocks of a program that is still built. Tuned: `benchmarks/constants.py`.
MOST_PAIRS = 25_000


@method(
    kind="relaxation",
    reference="this project",
    formulation="adversary_program",
    backend="highs",
)
def adversary_program(instance: AdversarialBundlesInstance, limits: Limits) -> MethodOutcome:
    """The best lottery over sequences by a linear program of its own.

    Return the bound of the lottery, which the certificate's best response proves.

    Raises
    ------
    ModelRefused
        If there are too many histories.
    """
    clock = Clock(limits)
    tree = full_tree(instance, MOST_PAIRS)
    m = build(instance, tree)
    solved = solve_model(m, "highs", clock.limits())
    if solved.status is Status.ERROR:
        raise SolverError(solved.reason)
    if solved.status is not Status.OPTIMAL:
        return MethodOutcome(limit_hit=solved.limit_hit)
    exact = exact_values(m)
    weights = [
        exact[m.weight[h]] if exact is not None else near(max(0.0, pyo.value(m.weight[h])))
        for h in m.H
    ]
    certificate = AdversarialBundlesCertificate(
        sequences=tuple(
            WeightedSequence(types=history, weight=weight)
            for history, weight in zip(tree.history, weights, strict=True)
            if weight > 0
        )
    )
    return MethodOutcome(dual_bound=check_bound(instance, certificate), certificate=certificate)


def build(instance: AdversarialBundlesInstance, tree: Tree) -> pyo.ConcreteModel:
    """Build (A1)-(A4) on a set of histories."""
    values = coefficients(kind.value for kind in instance.types)
    m = pyo.ConcreteModel("adversary_program")
    m.H = pyo.RangeSet(0, len(tree) - 1)
    m.after = pyo.Set(dimen=2, initialize=[(h, s) for h in m.H for s in tree.best[h]])
    m.before = pyo.Set(dimen=2, initialize=[(h, s) for h in m.H for s in tree.before(h)])
    m.weight = pyo.Var(m.H, domain=pyo.NonNegativeReals, doc="weight of a sequence")
    m.V = pyo.Var(m.after, domain=pyo.NonNegativeReals, doc="the most that is earned from here on")
    m.U = pyo.Var(m.before, domain=pyo.NonNegativeReals, doc="the same before a request")
    passing: list[Any] = [m.weight[h] for h in m.H]
    for h in reversed(range(len(tree))):
        if tree.parent[h] != ROOT:
            passing[tree.parent[h]] = passing[tree.parent[h]] + passing[h]
    later: dict[tuple[int, int], Any] = defaultdict(int)
    for h, s in m.before:
        later[tree.parent[h], s] += m.U[h, s]

    @m.Constraint(m.before, doc="(A2): the request is not sold to")
    def unsold(m: Any, h: int, s: int) -> Any:
        return m.U[h, s] >= m.V[h, tree.moves(h, s)[0]]

    @m.Constraint(m.before, doc="(A3): the request is sold to")
    def sold(m: Any, h: int, s: int) -> Any:
        after = tree.moves(h, s)[1]
        if after < 0:
            return pyo.Constraint.Skip
        return m.U[h, s] >= values[tree.history[h][-1]] * passing[h] + m.V[h, after]

    @m.Constraint(m.after, doc="(A4): what comes is drawn")
    def drawn(m: Any, h: int, s: int) -> Any:
        return m.V[h, s] >= later[h, s] if (h, s) in later else pyo.Constraint.Skip

    m.unit = pyo.Constraint(expr=later[ROOT, 0] <= 1, doc="(A4): the best seller earns 1")
    m.objective = pyo.Objective(
        expr=sum(coefficient(tree.optimum(h)) * m.weight[h] for h in m.H),
        sense=pyo.maximize,
        doc="(A1): the optimum",
    )
    return m
