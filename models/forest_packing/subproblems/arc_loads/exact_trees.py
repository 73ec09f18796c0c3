r"""Trees for rational loads and root rates, in integers.

Loads and rates that satisfy every cut (F3) hold trees of the whole rate (Edmonds); these are peeled
off in integers (`arborescence_peeling`). Switches are split off before (F7, `edge_splitting`): on
networks whose loads differ between the two directions of a worker this may lose capacity
(reconstructed), and then nothing is returned.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.pieces.graphs.arborescence_peeling import fits_words, peel_rooted_arborescences
from gadgetopt.pieces.graphs.flows import BigInts
from gadgetopt.search.clock import Clock

from ...instance import (
    ForestPackingInstance,
    Stage,
)
from ...network import Network
from ...packing import (
    Pair,
    Route,
    Tree,
    couple,
)
from ..edge_splitting import split_off_switches
from .exact_loads import ExactLoads

#: Most numbers that edge splitting may keep: a flow to every worker.
MOST_FLOWS = MOST_CELLS


def pack_exactly(
    instance: ForestPackingInstance, loads: ExactLoads, clock: Clock, *, mirrored: bool
) -> tuple[list[Pair], bool] | None:
    """Return pairs of trees within the loads, and whether they have the whole rate.

    Parameters
    ----------
    instance : ForestPackingInstance
    loads : ExactLoads
        They satisfy every cut.
    clock : Clock
        When the time is up, the trees found so far are returned.
    mirrored : bool
        If the reduce stage's loads are those of the broadcast the other way round: then every tree
        serves both.

    Returns
    -------
    tuple or None
        None if numbers pass 64 bits, loops are not compiled, or switches cannot be split off.
    """
    network = instance.network
    stages: tuple[Stage, ...] = ("broadcast",) if mirrored else instance.stages
    trees: dict[Stage, list[Tree]] = {}
    complete = True
    for k, stage in enumerate(stages):
        rest = Clock(clock.limits(part=1 / (len(stages) - k)))
        found = pack_stage_exactly(network, stage, loads, rest)
        if found is None:
            return None
        trees[stage], whole = found
        complete &= whole
    return paired(trees, mirrored=mirrored), complete


def pack_stage_exactly(
    network: Network, stage: Stage, loads: ExactLoads, clock: Clock
) -> tuple[list[Tree], bool] | None:
    """Return trees of one stage as `pack_exactly` does those of all."""
    if not COMPILED or not fits_words(_units(network, stage, loads)):
        return None
    ends = [(v, u) for u, v in network.arcs] if stage == "reduce" else list(network.arcs)
    ways = _ways(network, ends, loads, stage, clock)
    if ways is None:
        return None
    routes, units = ways
    try:
        roots, found = peel_rooted_arborescences(
            network.num_workers,
            np.array([route[0] for route in routes], dtype=np.int64),
            np.array([route[-1] for route in routes], dtype=np.int64),
            units,
            loads.roots.astype(np.int64),
            clock,
        )
    except ValueError:  # what splitting lost would have been needed
        return None
    if stage == "reduce":
        routes = [route[::-1] for route in routes]
    trees = [
        Tree(root, tuple(routes[a] for a in tree.tolist()), rate * loads.unit)
        for root, tree, rate in zip(roots, found.trees, found.rates, strict=True)
    ]
    return trees, found.complete


def _units(network: Network, stage: Stage, loads: ExactLoads) -> BigInts:
    """Return the units of arcs and of roots that may be needed.

    Without switches a tree uses an arc at most once.
    """
    units: BigInts = loads.loads[stage]
    if not network.switches:
        units = np.minimum(units, loads.rate)
    return np.concatenate((units, loads.roots))


def _ways(
    network: Network,
    ends: list[tuple[int, int]],
    loads: ExactLoads,
    stage: Stage,
    clock: Clock,
) -> tuple[list[Route], Ints] | None:
    """Return ways between workers with their units: arcs, or paths through switches."""
    workers, nodes = network.num_workers, network.num_nodes
    units = _units(network, stage, loads)[: len(ends)].astype(np.int64)
    if nodes == workers:
        return list(ends), units
    if workers * (nodes + 1) ** 2 > MOST_FLOWS:
        return None
    matrix = np.zeros((nodes, nodes), dtype=np.int64)
    matrix[tuple(np.array(ends).T)] = units
    try:
        split = split_off_switches(workers, matrix, loads.roots.tolist(), clock)
    except (ValueError, TimeoutError):
        return None
    found = [(route, amount) for ways in split.values() for route, amount in ways]
    return [route for route, _ in found], np.array([x for _, x in found], dtype=np.int64)


def paired(trees: Mapping[Stage, list[Tree]], *, mirrored: bool = False) -> list[Pair]:
    """Pair the trees of all stages root by root; if mirrored, every tree serves both ways."""
    if mirrored:
        return [
            Pair(t.root, tuple(route[::-1] for route in t.routes), None, t.rate)
            for t in trees["broadcast"]
        ]
    if len(trees) == 2:
        return couple(trees["reduce"], trees["broadcast"])
    if "reduce" in trees:
        return [Pair(t.root, t.routes, (), t.rate) for t in trees["reduce"]]
    return [Pair(t.root, (), t.routes, t.rate) for t in trees["broadcast"]]
