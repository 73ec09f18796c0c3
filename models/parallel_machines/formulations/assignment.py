r"""The assignment model: which job on which machine.

Sets: jobs j of J, machines i of M. Parameters: processing times :math:`p_j`. Variables:
:math:`x_{ij} = 1` if job j is on machine i; the makespan C.

.. math::
    \min\ & C                                                          \tag{A1} \\
    & \sum_i x_{ij} = 1                            \quad \forall j     \tag{A2} \\
    & \sum_j p_j x_{ij} \le C                      \quad \forall i     \tag{A3} \\
    & x_{ij} \in \{0, 1\}, \quad C \in \mathbb{Z}                      \tag{A4}

`assignment_lp` has :math:`0 \le x_{ij} \le 1` instead of (A4), and its optimum is the mean load:
:math:`x_{ij} = 1/m` is optimal. Every schedule is there m! times, once for each numbering of the
machines; that is why branching on x proves so little.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.system.declaring import formulation

from ..instance import ParallelMachinesInstance, ParallelMachinesSolution
from .numbers import check_digits


@formulation(model_class="ILP", equations="(A1)-(A4)", backends=("highs", "cpsat"))
def build(instance: ParallelMachinesInstance) -> pyo.ConcreteModel:
    """A binary variable for every job and machine; all machines alike."""
    return assignment_model(instance, pyo.Binary, pyo.NonNegativeIntegers)


@formulation(name="assignment_lp", model_class="LP", strength="relaxation", equations="(A1)-(A3)")
def build_relaxation(instance: ParallelMachinesInstance) -> pyo.ConcreteModel:
    """Its linear relaxation: the mean load."""
    return assignment_model(instance, pyo.UnitInterval, pyo.NonNegativeReals)


def decode(m: pyo.ConcreteModel, instance: ParallelMachinesInstance) -> ParallelMachinesSolution:
    """Return the machine of each job whose variable is 1."""
    jobs_of = [[j for j in m.J if pyo.value(m.x[i, j]) > 0.5] for i in m.M]
    return ParallelMachinesSolution.of(jobs_of)


def assignment_model(
    instance: ParallelMachinesInstance, assigned: Any, time: Any
) -> pyo.ConcreteModel:
    """Build (A1)-(A3) with variables of these domains."""
    check_digits(instance)
    p = instance.processing_s
    m = pyo.ConcreteModel("assignment")
    m.J = pyo.RangeSet(0, len(p) - 1)
    m.M = pyo.RangeSet(0, instance.used_machines - 1)
    m.x = pyo.Var(m.M, m.J, domain=assigned, doc="(A4): job j is on machine i")
    m.C = pyo.Var(domain=time, bounds=(0, instance.total_s), doc="the makespan, s")

    @m.Constraint(m.J, doc="(A2): every job is on one machine")
    def one_machine(m: Any, j: int) -> Any:
        return sum(m.x[i, j] for i in m.M) == 1

    @m.Constraint(m.M, doc="(A3): no machine runs longer than the makespan")
    def makespan(m: Any, i: int) -> Any:
        return sum(p[j] * m.x[i, j] for j in m.J) <= m.C

    m.objective = pyo.Objective(expr=m.C, doc="(A1): the makespan")
    return m
