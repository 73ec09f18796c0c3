r"""The cut LP with all its rows: every set of nodes with a worker receives all the data.

Formulation F3. Sets and variables as in `flow.py`, without the flows: R, w, g, h.

.. math::
    \max\ & R \\
    (1)-(3)\quad & \text{shares, capacities and switches: see } \texttt{loads.py} \\
    (F3)\quad & g(\delta^-(Q)) + w(Q \cap W) \ge R, \qquad
                h(\delta^+(Q)) + w(Q \cap W) \ge R
                \qquad Q \subseteq V,\ Q \cap W \ne \emptyset

This is the textbook form times R = 1/t: there (1) has the sum 1, (2) the capacity c_i t, and the
cuts the right-hand side 1. By max-flow min-cut it has the same optimum as the flow LP F2 with its
2N commodities. The rows are exponentially many, so the model is for reading and for checking
`cut_generation.py`, which adds the few that matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import formulation

from ..instance import ForestPackingInstance
from .loads import (
    add_balances,
    add_capacities,
    declare,
    decode,
    refuse_variants,
    stage_loads,
)

__all__ = ["build", "decode", "num_cuts"]

#: Most cut rows that `build` writes out. Tuned: `benchmarks/constants.py`.
MAX_CUTS = 2**14


def num_cuts(instance: ForestPackingInstance) -> int:
    """Return the number of rows (F3)."""
    nodes, workers = instance.network.num_nodes, instance.network.num_workers
    return len(instance.stages) * (2**nodes - 2 ** (nodes - workers))


@formulation(model_class="LP", equations="F3, F4, F7.1")
def build(instance: ForestPackingInstance) -> pyo.ConcreteModel:
    """Loads that cross every cut (small networks).

    Raises
    ------
    ModelRefused
        If there are more than `MAX_CUTS` rows, the trees are restricted, or switches copy and sum.
    """
    refuse_variants(instance)
    if num_cuts(instance) > MAX_CUTS:
        raise ModelRefused(
            f"the cut LP has {num_cuts(instance)} cuts, more than {MAX_CUTS}: use cut_generation, "
            "which finds those that matter"
        )
    network = instance.network
    m = declare("cuts", instance, network.num_nodes, network.arcs)
    add_capacities(m, instance, stage_loads(m, instance))
    add_balances(m, instance)
    # A set of nodes is an integer; bit v is set if it has node v. Workers are the first nodes.
    workers = (1 << network.num_workers) - 1
    m.Q = pyo.Set(initialize=[q for q in range(1 << network.num_nodes) if q & workers])

    def crossing(q: int, entering: bool) -> Iterable[tuple[int, int]]:
        return (
            (u, v) for u, v in network.arcs if (q >> u & 1, q >> v & 1) == (not entering, entering)
        )

    def rooted(q: int) -> Any:
        return pyo.quicksum(m.w[r] for r in m.W if q >> r & 1)

    if "broadcast" in instance.stages:

        @m.Constraint(m.Q, doc="(F3): all the data enters Q or is rooted in it")
        def entered(m: Any, q: int) -> Any:
            return pyo.quicksum(m.g[a] for a in crossing(q, entering=True)) + rooted(q) >= m.R

    if "reduce" in instance.stages:

        @m.Constraint(m.Q, doc="(F3): all the data leaves Q or is rooted in it")
        def left(m: Any, q: int) -> Any:
            return pyo.quicksum(m.h[a] for a in crossing(q, entering=False)) + rooted(q) >= m.R

    return m
