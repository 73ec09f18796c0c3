"""From the variables of a plan to a plan and, with the orders of PE, to a solution."""

from __future__ import annotations

from itertools import pairwise

import pyomo.core as pyo

from gadgetopt.pieces.pipeline.plan import Plan, plan_violations

from ..algorithms.spp import pe
from ..instance import SppInstance, SppSolution


def decoded_plan(m: pyo.ConcreteModel, instance: SppInstance) -> Plan:
    """Return the plan of the variables z and a."""
    ends = [sum(pyo.value(m.z[n, ell]) > 0.5 for ell in m.L) for n in m.N]
    gpus = [tuple(v for v in m.V if pyo.value(m.a[n, v]) > 0.5) for n in m.N]
    stages = [
        ((first, end), gpus[n])
        for n, (first, end) in enumerate(pairwise((0, *ends)))
        if end > first
    ]
    return Plan(
        stage_layers=tuple(layers for layers, _ in stages),
        stage_devices=tuple(devices for _, devices in stages),
    )


def decode(m: pyo.ConcreteModel, instance: SppInstance) -> SppSolution | None:
    """Return the plan with the orders of PE; None if the plan does not fit into memory."""
    plan = decoded_plan(m, instance)
    if plan_violations(instance, plan):
        return None
    return SppSolution.of(plan, pe(instance, plan).orders)
