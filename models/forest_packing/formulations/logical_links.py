r"""The logical-link LP: loads between pairs of workers, routed through switches.

Formulation F7.2.

Sets: workers W, switches S, ordered pairs U of workers, arcs A, rows with capacity c_i.

Variables: as in `flow.py` the rate R, root rates w_r, loads g_{uv}, h_{uv} and the flows of
(4)-(6), all on the complete digraph of the workers, whose arcs uv in U are logical links; y^u_a and
z^u_a the parts of the broadcast and the reduce load of arc a on links out of worker u.

.. math::
    \max\ & R \\
    (1), (4)-(6)\quad & \text{as in } \texttt{flow.py} \text{, on nodes } W \text{ and arcs } U \\
    (2)\quad & \text{as in } \texttt{loads.py} \text{, on the loads }
               \textstyle\sum_u y^u_a, \sum_u z^u_a \text{ of arcs} \\
    (F7.2)\quad & y^u(\delta^-(s)) = y^u(\delta^+(s)), \quad y^u(\delta^-(v)) = g_{uv}, \quad
                  y^u(\delta^+(v)) = 0 \qquad u, v \in W,\ v \ne u,\ s \in S

and the same for z and h. A route thus runs through switches only, from u to v. In rates like
`flow.py`: the textbook form times R = 1/t, with one common capacity of a logical link for both
stages split into its two loads. Switches disappear from the packing, so no property of switches
but conservation is used: an independent check of (3).
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.system.declaring import formulation

from ..instance import ForestPackingInstance, ForestPackingSolution, Stage
from .flow import add_flows
from .loads import (
    add_capacities,
    declare,
    decode_loads,
    refuse_variants,
    root_rates,
    stage_loads,
    values,
)

#: Stages' routing variables.
ROUTED: dict[Stage, str] = {"broadcast": "y", "reduce": "z"}


@formulation(model_class="LP", equations="F7.2")
def build(instance: ForestPackingInstance) -> pyo.ConcreteModel:
    """The compact form on links between workers, routed through switches.

    Raises
    ------
    ModelRefused
        If the trees are restricted, or switches copy and sum.
    """
    refuse_variants(instance)
    network = instance.network
    N = network.num_workers
    links = [(u, v) for u in range(N) for v in range(N) if u != v]

    m = declare("logical links", instance, N, links)
    add_flows(m, instance)
    m.physical = pyo.Set(dimen=2, initialize=network.arcs)
    if "broadcast" in instance.stages:
        m.y = pyo.Var(m.W, m.physical, domain=pyo.NonNegativeReals, doc="broadcast out of u")
    if "reduce" in instance.stages:
        m.z = pyo.Var(m.W, m.physical, domain=pyo.NonNegativeReals, doc="reduce out of u")
    routed = {stage: m.component(ROUTED[stage]) for stage in instance.stages}
    loads = stage_loads(m, instance)

    add_capacities(m, instance, {stage: _physical(m, routed[stage]) for stage in routed})

    @m.Constraint(
        list(routed), m.W, list(network.switches), doc="(F7.2): switches forward each origin's data"
    )
    def forwards(m: Any, stage: Stage, u: int, s: int) -> Any:
        through = routed[stage]
        entering = pyo.quicksum(through[u, network.arcs[a]] for a in network.in_arcs[s])
        leaving = pyo.quicksum(through[u, network.arcs[a]] for a in network.out_arcs[s])
        return entering == leaving

    @m.Constraint(list(routed), m.A, doc="(F7.2): what enters v from u is the link's load")
    def arrives(m: Any, stage: Stage, u: int, v: int) -> Any:
        through = routed[stage]
        entering = pyo.quicksum(through[u, network.arcs[a]] for a in network.in_arcs[v])
        return entering == loads[stage][u, v]

    @m.Constraint(list(routed), m.A, doc="(F7.2): and goes no further")
    def ends(m: Any, stage: Stage, u: int, v: int) -> Any:
        through = routed[stage]
        if not network.out_arcs[v]:
            return pyo.Constraint.Skip
        return pyo.quicksum(through[u, network.arcs[a]] for a in network.out_arcs[v]) == 0

    return m


def decode(m: pyo.ConcreteModel, instance: ForestPackingInstance) -> ForestPackingSolution:
    """Decompose the loads of the network's arcs into trees.

    They keep (3) and the cuts of F3 because the logical loads keep the cuts between workers.
    """
    loads = {
        stage: [sum(values(m, [routed[u, arc] for u in m.W])) for arc in m.physical]
        for stage, name in ROUTED.items()
        if (routed := m.component(name)) is not None
    }
    return decode_loads(instance, loads, root_rates(m))


def _physical(m: pyo.ConcreteModel, routed: Any) -> dict[tuple[int, int], Any]:
    """Return the load of each arc: the sum over origins."""
    return {arc: pyo.quicksum(routed[u, arc] for u in m.W) for arc in m.physical}
