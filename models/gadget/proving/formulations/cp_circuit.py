r"""CP-SAT circuit model: a ring as a circuit over its servers, with a path for every arc.

This is (7)-(9) of the paper's program, repaired (reconstructed). Variables of each job i that may
run, in every slot: workers :math:`y_{is}`, servers used :math:`x_{is}`, and a literal for several
servers. With several servers the arcs :math:`r_{iss'}` between ordered pairs of them form one
circuit through all servers used, the others having loops. Every arc takes one simple path of links
wide enough for the job, and every path loads all its links with :math:`b_i`, (19). Paths may pass
through servers that the ring does not use. No ring needs to visit a server twice (proposition P1),
so the model is exact if all simple paths are included.
"""

from __future__ import annotations

from typing import Any

from gadgetopt.search.seeds import fixed_rng
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...formulations.joint import SlotScope
from ...formulations.paths import Paths, paths_of
from ...instance import GadgetInstance
from .cp_joint import (
    CpSlot,
    CpWay,
    solve_horizon,
)


def add_slot(
    model: cp_model.CpModel,
    scope: SlotScope,
    cache: dict[tuple[int, tuple[int, ...]], Paths],
) -> CpSlot:
    """Add the rings of a slot."""
    terms = scope.terms
    workers: dict[tuple[int, int], Any] = {}
    uses: dict[tuple[int, int], list[Any]] = {}
    for i, paths in paths_of(scope, cache).items():
        servers = scope.servers(i)
        x = {s: model.new_bool_var(f"x[{i},{s}]") for s in servers}
        several = model.new_bool_var(f"several[{i}]")
        for s in servers:
            y = workers[i, s] = model.new_int_var(0, scope.most(i, s), f"y[{i},{s}]")
            model.add(y >= 1).only_enforce_if(x[s])
            model.add(y == 0).only_enforce_if(~x[s])
        model.add_at_most_one(x.values()).only_enforce_if(~several)
        if len(servers) < 2:
            continue
        arcs: list[tuple[int, int, Any]] = []
        for (s, other), listed in paths.items():
            if not listed:
                continue
            arc = model.new_bool_var(f"r[{i},{s},{other}]")
            arcs.append((s, other, arc))
            for needed in (x[s], x[other], several):
                model.add_implication(arc, needed)
            taken = [model.new_bool_var(f"path[{i},{s},{other},{p}]") for p in range(len(listed))]
            model.add(sum(taken) == arc)
            for literal, links in zip(taken, listed, strict=True):
                for e in links:
                    uses.setdefault((i, e), []).append(literal)
        for s in servers:
            loop = model.new_bool_var(f"loop[{i},{s}]")
            arcs.append((s, s, loop))
            model.add_bool_or(~several, ~loop, ~x[s])
        model.add_circuit(arcs)
    size = {i: sum(workers[i, s] for s in scope.servers(i)) for i in scope.largest}
    for i, q in scope.largest.items():
        model.add(size[i] <= q)
    add_capacity(model, scope, workers)
    for e, there in enumerate(terms.link_mbps.tolist()):
        load = [terms.jobs[i].bandwidth * sum(x) for (i, link), x in uses.items() if link == e]
        if load:
            model.add(sum(load) <= there)
    return CpSlot(size, workers, uses)


def add_capacity(
    model: cp_model.CpModel, scope: SlotScope, workers: dict[tuple[int, int], Any]
) -> None:
    """Add (4): the workers fit their servers."""
    terms = scope.terms
    for s, row in enumerate(terms.capacity.tolist()):
        present = [i for i in scope.largest if (i, s) in workers]
        for r, there in enumerate(row):
            used = [int(terms.jobs[i].demand[r]) * workers[i, s] for i in present]
            if used:
                model.add(sum(used) <= there)


def num_variables(scope: SlotScope, cache: dict[tuple[int, tuple[int, ...]], Paths]) -> int:
    """Return the approximate number of variables of a slot."""
    return sum(
        3 * len(scope.servers(i)) + sum(1 + len(listed) for listed in paths.values())
        for i, paths in paths_of(scope, cache).items()
    )


def circuits() -> CpWay:
    """Return the circuit model of a slot; paths are enumerated only once."""
    cache: dict[tuple[int, tuple[int, ...]], Paths] = {}
    return CpWay(
        lambda model, scope: add_slot(model, scope, cache),
        lambda scope: num_variables(scope, cache),
    )


@method(
    kind="exact",
    reference="(2)-(8), (19) in CP-SAT (reconstructed)",
    formulation="cp_circuit",
    backend="cpsat",
)
def cp_circuit(
    instance: GadgetInstance,
    limits: Limits,
    *,
    scale: int = 0,
) -> MethodOutcome:
    """Rings as circuits with a path for every arc, by CP-SAT.

    Solve all slots together by the circuit model (reconstructed).

    Parameters
    ----------
    scale : int
        Utilities are rounded down to multiples of 1 / scale, and the bound is corrected for it.
        With 0 the scale follows from their sum.

    Raises
    ------
    ModelRefused
        If there are too many paths or variables, or the utilities are too large for the scale.
    """
    rng = fixed_rng()
    return solve_horizon(instance, circuits(), limits, rng, scale)
