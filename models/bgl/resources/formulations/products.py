r"""Resource isolation as it stands, (9), with products: nonconvex integer.

Variables: shares :math:`c_1, \dots, c_4, b_I, b_{II}`, whole and at least 1; the time
:math:`\theta` of the slowest stage; u and w, the times of the cache workflow on processors and
over PCIe.

.. math::
    \min\ \theta: \quad & \theta c_1 \ge T_1, \ \theta c_2 \ge T_2, \ \theta c_3 \ge T_3,
      \ \theta b_I \ge D_I                                                                       \\
    & u c_4 \ge a, \ w b_{II} \ge D_{II}, \ \theta \ge u + d + w,
      \ \theta \ge \max\{T_{net}, T_{gpu}\}                                                      \\
    & c_1 + c_2 \le C_{gs}, \ c_3 + c_4 \le C_{wm}, \ b_I + b_{II} \le B_{pcie}         \tag{9}
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import formulation

from ..instance import ResourcesInstance, ResourcesSolution

#: Numbers outside of this range are left to exact arithmetic. Tuned: `benchmarks/constants.py`.
_LEAST, _MOST = 1e-6, 1e6


def check_numbers(instance: ResourcesInstance) -> None:
    """Refuse an instance without shares for all, or whose numbers a solver's doubles lose.

    Raises
    ------
    ModelRefused
    """
    if not instance.has_shares:
        raise ModelRefused("store_cores, worker_cores, pcie_units: fewer than 2 leave no shares")
    for name in type(instance).model_fields:
        value = float(getattr(instance, name))
        if value and not _LEAST <= value <= _MOST:
            raise ModelRefused(
                f"{name}: {value:.3g} is outside of {_LEAST:g} to {_MOST:g}, for solvers"
            )


@formulation(model_class="MINLP", equations="(9)", backends=("scip",))
def build(instance: ResourcesInstance) -> pyo.ConcreteModel:
    """(9) with products of shares and times."""
    check_numbers(instance)
    worst = _slowest(instance)
    m = pyo.ConcreteModel("products")
    shares = {
        "request": instance.store_cores,
        "construct": instance.store_cores,
        "process": instance.worker_cores,
        "cache": instance.worker_cores,
        "subgraph": instance.pcie_units,
        "feature": instance.pcie_units,
    }
    m.stages = pyo.Set(initialize=list(shares))
    m.share = pyo.Var(
        m.stages,
        domain=pyo.PositiveIntegers,
        bounds=lambda m, stage: (1, shares[stage] - 1),
        doc="cores or units of a stage",
    )
    m.theta = pyo.Var(bounds=(instance.fixed_s, worst), doc="slowest stage, s")
    m.u = pyo.Var(bounds=(0, worst), doc="cache workflow on processors, s")
    m.w = pyo.Var(bounds=(0, worst), doc="copy of features, s")
    works = (
        ("request", m.theta, instance.request_core_s),
        ("construct", m.theta, instance.construct_core_s),
        ("process", m.theta, instance.process_core_s),
        ("subgraph", m.theta, instance.subgraph_unit_s),
        ("cache", m.u, instance.cache_core_s),
        ("feature", m.w, instance.feature_unit_s),
    )
    m.work = pyo.ConstraintList(doc="(9): a share and the time together do the work")
    for stage, time, work in works:
        m.work.add(time * m.share[stage] >= work)

    @m.Constraint(doc="(9): the cache waits for both")
    def both(m: Any) -> Any:
        return m.theta >= m.u + instance.cache_floor_s + m.w

    @m.Constraint(doc="(9): cores of the store")
    def store(m: Any) -> Any:
        return m.share["request"] + m.share["construct"] <= instance.store_cores

    @m.Constraint(doc="(9): cores of the worker machine")
    def worker(m: Any) -> Any:
        return m.share["process"] + m.share["cache"] <= instance.worker_cores

    @m.Constraint(doc="(9): units of PCIe")
    def pcie(m: Any) -> Any:
        return m.share["subgraph"] + m.share["feature"] <= instance.pcie_units

    m.objective = pyo.Objective(expr=m.theta, doc="(9): the slowest stage")
    return m


def _slowest(instance: ResourcesInstance) -> Fraction:
    """Return the time of the slowest stage if each has one core or unit."""
    return max(
        instance.fixed_s,
        instance.request_core_s,
        instance.construct_core_s,
        instance.process_core_s,
        instance.subgraph_unit_s,
        instance.cache_s(1, 1),
    )


def decode(m: pyo.ConcreteModel, instance: ResourcesInstance) -> ResourcesSolution:
    """Return the shares."""
    return solution_of({stage: round(pyo.value(m.share[stage])) for stage in m.stages})


def solution_of(share: dict[str, int]) -> ResourcesSolution:
    """Return the solution of the shares by the names of stages."""
    return ResourcesSolution(
        request_cores=share["request"],
        construct_cores=share["construct"],
        process_cores=share["process"],
        cache_cores=share["cache"],
        subgraph_units=share["subgraph"],
        feature_units=share["feature"],
    )
