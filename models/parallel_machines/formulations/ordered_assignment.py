r"""The assignment model without its symmetry.

Jobs are numbered longest first. Machine i is the one whose longest job comes i-th among the longest
jobs of all machines, which leaves one numbering of every schedule. To (A1)-(A4) it adds

.. math::
    & x_{ij} = 0                                       \quad \forall i > j              \tag{O1} \\
    & x_{ij} \le \sum_{h < j} x_{i-1,h}                \quad \forall i > 1,\ j \ge i    \tag{O2} \\
    & C \ge L                                                                           \tag{O3}

with L the combinatorial bound. By (O2) a machine takes a job only if the one before it has a longer
job. The linear relaxation is no stronger than L; the tree is far smaller.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import formulation

from ..counting import combinatorial_bound
from ..instance import ParallelMachinesInstance
from .assignment import assignment_model, decode

#: Terms of (O2) of a model that is still built. Tuned: `benchmarks/constants.py`.
MOST_TERMS = 2_000_000


@formulation(
    model_class="ILP", equations="(A1)-(A4), (O1)-(O3)", decode=decode, backends=("highs", "cpsat")
)
def build(instance: ParallelMachinesInstance) -> pyo.ConcreteModel:
    """Machines ordered by their longest job, makespan at least the combinatorial bound.

    Raises
    ------
    ModelRefused
        If (O2), which has about n^2 m / 2 terms, is too long.
    """
    if len(instance.processing_s) ** 2 * instance.used_machines > 2 * MOST_TERMS:
        raise ModelRefused(f"the ordering of the machines has more than {MOST_TERMS} terms")
    m = assignment_model(instance, pyo.Binary, pyo.NonNegativeIntegers)
    m.name = "ordered_assignment"
    order = instance.longest_first
    rank = range(len(order))
    bound = combinatorial_bound(instance)

    for i in m.M:
        for j in rank[:i]:
            m.x[i, order[j]].fix(0)  # (O1)

    @m.Constraint(m.M, rank, doc="(O2): the machine before has a longer job")
    def ordered(m: Any, i: int, j: int) -> Any:
        if i == 0 or j < i:
            return pyo.Constraint.Skip
        return m.x[i, order[j]] <= sum(m.x[i - 1, order[h]] for h in rank[i - 1 : j])

    m.counted = pyo.Constraint(expr=bound <= m.C, doc="(O3): the combinatorial bound")
    return m
