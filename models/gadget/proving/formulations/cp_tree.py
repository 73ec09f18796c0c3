r"""CP-SAT model of rings on a two-tier cluster, by the links that they load.

Variables of each job i that may run, in every slot: workers :math:`y_{is}`, servers used
:math:`x_{is}`, racks used :math:`v_{ik}`, and literals for a ring that spans servers and one that
spans racks. A ring loads the access links of its servers if it spans servers, and the uplinks of
its racks if it spans racks (proposition P2; the model is reconstructed):

.. math::
    & \neg span^s_i \Rightarrow \textstyle\sum_s x_{is} \le 1, \quad
      x_{is} \Rightarrow v_{i, rack(s)}, \quad
      \neg span^r_i \Rightarrow \textstyle\sum_k v_{ik} \le 1 \\
    & x_{is} \wedge span^s_i \Rightarrow access_{is}, \qquad
      v_{ik} \wedge span^r_i \Rightarrow uplink_{ik} \\
    & \textstyle\sum_i b_i\, access_{is} \le B_s, \qquad \sum_i b_i\, uplink_{ik} \le U_k
"""

from __future__ import annotations

from typing import Any

from gadgetopt.errors import ModelRefused
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...formulations.joint import SlotScope
from ...instance import GadgetInstance
from .cp_circuit import add_capacity
from .cp_joint import (
    CpSlot,
    CpWay,
    solve_horizon,
)


def add_slot(model: cp_model.CpModel, scope: SlotScope) -> CpSlot:
    """Add the rings of a slot."""
    terms = scope.terms
    tree = terms.tree
    assert tree is not None
    rack = tree.rack.tolist()
    workers: dict[tuple[int, int], Any] = {}
    access: dict[int, list[Any]] = {}
    uplink: dict[int, list[Any]] = {}
    for i in scope.largest:
        b, servers = terms.jobs[i].bandwidth, scope.servers(i)
        racks = sorted({rack[s] for s in servers})
        span_server = model.new_bool_var(f"span_server[{i}]")
        span_rack = model.new_bool_var(f"span_rack[{i}]")
        x = {s: model.new_bool_var(f"x[{i},{s}]") for s in servers}
        v = {k: model.new_bool_var(f"v[{i},{k}]") for k in racks}
        for s in servers:
            y = workers[i, s] = model.new_int_var(0, scope.most(i, s), f"y[{i},{s}]")
            model.add(y >= 1).only_enforce_if(x[s])
            model.add(y == 0).only_enforce_if(~x[s])
            model.add_implication(x[s], v[rack[s]])
        model.add_at_most_one(x.values()).only_enforce_if(~span_server)
        model.add_at_most_one(v.values()).only_enforce_if(~span_rack)
        for s in servers:
            used = model.new_bool_var(f"access[{i},{s}]")
            model.add_bool_or(~x[s], ~span_server, used)
            access.setdefault(s, []).append(b * used)
        for k in racks:
            used = model.new_bool_var(f"uplink[{i},{k}]")
            model.add_bool_or(~v[k], ~span_rack, used)
            uplink.setdefault(k, []).append(b * used)
    size = {i: sum(workers[i, s] for s in scope.servers(i)) for i in scope.largest}
    for i, q in scope.largest.items():
        model.add(size[i] <= q)
    add_capacity(model, scope, workers)
    for loads, there in ((access, tree.access.tolist()), (uplink, tree.uplink.tolist())):
        for node, load in loads.items():
            model.add(sum(load) <= there[node])
    return CpSlot(size, workers, {})


def num_variables(scope: SlotScope) -> int:
    """Return the approximate number of variables of a slot."""
    tree = scope.terms.tree
    racks = 0 if tree is None else len(tree.uplink)
    return sum(3 * len(scope.servers(i)) + 2 * racks + 2 for i in scope.largest)


CP_TREE = CpWay(add_slot, num_variables)


@method(
    kind="exact",
    reference="two-tier CP-SAT model (reconstructed)",
    formulation="cp_tree",
    backend="cpsat",
)
def cp_tree(
    instance: GadgetInstance,
    limits: Limits,
    *,
    scale: int = 0,
) -> MethodOutcome:
    """Rings on a two-tier cluster by the links they load, by CP-SAT.

    Solve all slots together by the two-tier model (reconstructed).

    Parameters
    ----------
    scale : int
        Utilities are rounded down to multiples of 1 / scale, and the bound is corrected for it.
        With 0 the scale follows from their sum.

    Raises
    ------
    ModelRefused
        If the network is a graph, or the model or the scaled utilities are too large.
    """
    rng = fixed_rng()
    if instance.terms.tree is None:
        raise ModelRefused("the network is a graph, expected a two-tier cluster")
    return solve_horizon(instance, CP_TREE, limits, rng, scale)
