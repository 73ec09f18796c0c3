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

import itertools
from typing import Any

import networkx as nx
from ortools.sat.python import cp_model

from gadgetopt.errors import ModelRefused
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import GadgetInstance
from ..terms import Terms
from .cp_joint import CpSlot, CpWay, solve_horizon
from .joint import SlotScope

#: Limit on simple paths between the servers of a job; meshes have far more.
MOST_PATHS = 20_000

#: Links of every simple path, by the positions of its ends in `Terms.servers`.
Paths = dict[tuple[int, int], list[tuple[int, ...]]]


def simple_paths(terms: Terms, bandwidth: int, servers: list[int]) -> Paths:
    """Return the simple paths between servers over links of at least a given bandwidth.

    Raises
    ------
    ModelRefused
        If there are more than `MOST_PATHS`.
    """
    number = {(u, v): e for e, (u, v) in enumerate(terms.links.tolist())}
    wide: nx.DiGraph[int] = nx.DiGraph()
    wide.add_nodes_from(range(terms.num_nodes))
    wide.add_edges_from(terms.links[terms.link_mbps >= bandwidth].tolist())
    position = {terms.servers[s]: s for s in servers}
    paths: Paths = {pair: [] for pair in itertools.permutations(servers, 2)}
    count = 0
    for u, s in position.items():
        for nodes in nx.all_simple_paths(wide, u, position.keys() - {u}):
            count += 1
            if count > MOST_PATHS:
                raise ModelRefused(f"more than {MOST_PATHS} simple paths between servers")
            links = tuple(number[arc] for arc in itertools.pairwise(nodes))
            paths[s, position[nodes[-1]]].append(links)
    return paths


def paths_of(scope: SlotScope, cache: dict[tuple[int, tuple[int, ...]], Paths]) -> dict[int, Paths]:
    """Return the paths of every job of a slot; identical jobs share them."""
    out = {}
    for i in scope.largest:
        servers = scope.servers(i)
        key = scope.terms.jobs[i].bandwidth, tuple(servers)
        if key not in cache:
            cache[key] = simple_paths(scope.terms, key[0], servers)
        out[i] = cache[key]
    return out


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
