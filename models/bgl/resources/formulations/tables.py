r"""Resource isolation with tables, a MILP.

Sets: stages k with a share, shares n from 1 to :math:`N_k`, which is all but one of what there is.
Variables: :math:`z_{kn} = 1` if stage k has the share n; :math:`\theta`, the slowest stage.

.. math::
    \min\ & \theta                                                                      \tag{T1} \\
    & \sum_n z_{kn} = 1                                             \quad \forall k     \tag{T2} \\
    & \theta \ge \sum_n \frac{T_k}{n} z_{kn} \quad \text{for } c_1, c_2, c_3, b_I,
      \qquad \theta \ge \sum_n \frac{a}{n} z_{4n} + d + \sum_n \frac{D_{II}}{n} z_{II,n}
                                                                                        \tag{T3} \\
    & \sum_n n\, (z_{kn} + z_{ln}) \le C \quad \text{for each resource with its stages k, l}
                                                                                        \tag{T4} \\
    & z \in \{0, 1\}, \quad \theta \ge \max\{T_{net}, T_{gpu}\}                         \tag{T5}
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.system.declaring import formulation

from ..instance import ResourcesInstance, ResourcesSolution
from .products import check_numbers, solution_of

#: Most entries of all tables. Tuned: `benchmarks/constants.py`.
_MOST_ENTRIES = 200_000


@formulation(model_class="MILP", equations="(9), (T1)-(T5)")
def build(instance: ResourcesInstance) -> pyo.ConcreteModel:
    """A binary variable for every share of every stage."""
    return table_model(instance, pyo.Binary)


@formulation(name="tables_lp", model_class="LP", strength="relaxation", equations="(T1)-(T4)")
def build_relaxation(instance: ResourcesInstance) -> pyo.ConcreteModel:
    """Its linear relaxation."""
    return table_model(instance, pyo.UnitInterval)


def table_model(instance: ResourcesInstance, domain: Any) -> pyo.ConcreteModel:
    """Build (T1)-(T4) with table variables of a domain."""
    check_numbers(instance)
    resources = {
        "store": (("request", "construct"), instance.store_cores),
        "worker": (("process", "cache"), instance.worker_cores),
        "pcie": (("subgraph", "feature"), instance.pcie_units),
    }
    work = {
        "request": instance.request_core_s,
        "construct": instance.construct_core_s,
        "process": instance.process_core_s,
        "cache": instance.cache_core_s,
        "subgraph": instance.subgraph_unit_s,
        "feature": instance.feature_unit_s,
    }
    most = {k: whole for stages, whole in resources.values() for k in stages}
    if sum(most.values()) > _MOST_ENTRIES:
        raise ModelRefused(f"store_cores: tables of {sum(most.values())} shares are too large")
    table = [(k, n) for k, whole in most.items() for n in range(1, whole)]

    m = pyo.ConcreteModel("tables")
    m.K = pyo.Set(initialize=list(most))
    m.table = pyo.Set(initialize=table, dimen=2)
    m.z = pyo.Var(m.table, domain=domain, doc="(T5): stage k has the share n")
    slowest = max(*work.values(), instance.cache_s(1, 1), instance.fixed_s)
    m.theta = pyo.Var(bounds=(instance.fixed_s, slowest), doc="slowest stage, s")

    @m.Constraint(m.K, doc="(T2): one share for every stage")
    def one_share(m: Any, k: str) -> Any:
        return sum(m.z[k, n] for n in range(1, most[k])) == 1

    def time(k: str) -> Any:
        return sum(coefficient(work[k] / n) * m.z[k, n] for n in range(1, most[k]))

    m.alone = pyo.Set(initialize=["request", "construct", "process", "subgraph"])

    @m.Constraint(m.alone, doc="(T3): the slowest stage is no faster than any")
    def slower(m: Any, k: str) -> Any:
        return m.theta >= time(k)

    @m.Constraint(doc="(T3): the cache waits for both")
    def both(m: Any) -> Any:
        return m.theta >= time("cache") + instance.cache_floor_s + time("feature")

    m.resources = pyo.Set(initialize=list(resources))

    @m.Constraint(m.resources, doc="(T4): shares of a resource")
    def shared(m: Any, resource: str) -> Any:
        stages, whole = resources[resource]
        return sum(n * m.z[k, n] for k in stages for n in range(1, whole)) <= whole

    m.objective = pyo.Objective(expr=m.theta, doc="(T1): the slowest stage")
    return m


def decode(m: pyo.ConcreteModel, instance: ResourcesInstance) -> ResourcesSolution:
    """Return the shares whose variables are 1."""
    return solution_of({k: n for k, n in m.table if pyo.value(m.z[k, n]) > 0.5})
