r"""The seller's best response to a lottery over sequences, as a linear program.

Histories h of the sequences with their prefixes; :math:`\lambda_h` the weight of all sequences that
begin with h, :math:`v_h` the value of its last buyer, :math:`x_h` the probability of a sale.

.. math::
    \max \textstyle\sum_h \lambda_h v_h x_h, \quad \sum_{h' \preceq h} x_{h'} \le k \ \forall h,
    \quad 0 \le x \le 1                                                                   \tag{B}

The rows of a tree are totally unimodular, so that its optimum is that of 0-1 policies.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import SolverError
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Status

from ....subproblems.responses import Trie
from ...instance import AdversarialOnlinePolicyInstance


def best_policy_program(
    instance: AdversarialOnlinePolicyInstance,
    weighted: Sequence[tuple[Sequence[int], Fraction]],
    clock: Clock,
) -> float:
    """Return what no seller exceeds in all against weighted sequences; infinite if out of time."""
    trie, passing = Trie(), dict[int, float]()
    for sequence, weight in weighted:
        for h in trie.add(sequence):
            passing[h] = passing.get(h, 0.0) + float(weight)
    m = pyo.ConcreteModel("best_policy")
    m.H = pyo.RangeSet(0, len(trie) - 1)
    m.x = pyo.Var(m.H, bounds=(0, 1), doc="probability of a sale to the last buyer of h")
    inner = set(trie.parent)

    def path(h: int) -> list[int]:
        found = []
        while h >= 0:
            found.append(h)
            h = trie.parent[h]
        return found

    @m.Constraint([h for h in range(len(trie)) if h not in inner], doc="(B): k units")
    def units(m: Any, h: int) -> Any:
        return sum(m.x[i] for i in path(h)) <= instance.capacity_units

    value = [float(instance.levels[j]) for j in trie.level]
    m.objective = pyo.Objective(
        expr=sum(passing[h] * value[h] * m.x[h] for h in m.H), sense=pyo.maximize, doc="(B)"
    )
    outcome = solve_model(m, "highs", clock.limits())
    if outcome.status is Status.ERROR:
        raise SolverError(outcome.reason)
    return float("inf") if outcome.bound is None else float(outcome.bound)
