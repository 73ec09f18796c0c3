"""Presets: random jobs on a rack, on boards, on a leaf-spine network, a fat tree; many alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gadgetopt.pieces.server_boards import BoardName, board_of
from gadgetopt.system.declaring import generator

from ....subproblems.random_jobs import (
    TASKS,
    fat_tree_of,
    jobs_for,
    racks_of,
    table,
    with_gradients,
)
from ...instance import PlacementInstance

if TYPE_CHECKING:
    import numpy as np

    from ....subproblems.cluster import Server


@generator()
def tiny(
    rng: np.random.Generator, *, jobs: int = 4, servers: int = 3, gpus: int = 2, types: int = 2
) -> PlacementInstance:
    """A few jobs, for enumeration."""
    return _instance(rng, racks_of(1, servers, gpus, 4 * gpus), jobs, types, 1.0, (1, 1, 2))


@generator()
def quickstart(rng: np.random.Generator, *, jobs: int = 8, servers: int = 5) -> PlacementInstance:
    """A few jobs on which rules are seldom optimal.

    Return an instance on which rules are seldom optimal and every exact method is fast.
    """
    return single_rack(rng, jobs=jobs, servers=servers)


@generator()
def single_rack(
    rng: np.random.Generator,
    *,
    jobs: int = 10,
    servers: int = 5,
    gpus: int = 4,
    types: int = 4,
    load: float = 1.0,
) -> PlacementInstance:
    """Random jobs on the servers of one rack."""
    return _instance(rng, racks_of(1, servers, gpus, 4 * gpus), jobs, types, load)


@generator()
def leaf_spine(
    rng: np.random.Generator,
    *,
    jobs: int = 12,
    racks: int = 2,
    servers_per_rack: int = 3,
    gpus: int = 4,
    types: int = 4,
    load: float = 1.0,
) -> PlacementInstance:
    """Random jobs on the racks of a leaf-spine network."""
    servers = racks_of(racks, servers_per_rack, gpus, 4 * gpus)
    return _instance(rng, servers, jobs, types, load)


@generator()
def fat_tree(
    rng: np.random.Generator, *, jobs: int = 16, ports: int = 4, types: int = 4, load: float = 1.0
) -> PlacementInstance:
    """Random jobs on a fat tree of k-port switches, k^3/4 servers."""
    return _instance(rng, fat_tree_of(ports), jobs, types, load)


@generator()
def boards(
    rng: np.random.Generator,
    *,
    jobs: int = 6,
    servers: int = 3,
    types: int = 4,
    board: BoardName = "nvlink_pairs",
    load: float = 1.0,
) -> PlacementInstance:
    """One rack of servers whose sockets, PCIe switches and NVLinks cost something."""
    inside = () if board == "none" else (board_of(board),)
    gpus = inside[0].gpus if inside else 4
    plain = single_rack(rng, jobs=jobs, servers=servers, gpus=gpus, types=types, load=load)
    return PlacementInstance(
        servers=plain.servers,
        jobs=with_gradients(rng, plain.jobs),
        interference=plain.interference,
        boards=inside,
    )


@generator()
def paper(
    rng: np.random.Generator,
    *,
    jobs: int = 60,
    racks: int = 2,
    servers_per_rack: int = 20,
    types: int = 4,
    load: float = 0.9,
) -> PlacementInstance:
    """A mixed load on tens of servers in racks (reconstructed).

    Return a mixed load on tens of servers in racks (reconstructed).
    """
    return leaf_spine(
        rng, jobs=jobs, racks=racks, servers_per_rack=servers_per_rack, types=types, load=load
    )


@generator()
def single_tasks(
    rng: np.random.Generator,
    *,
    classes: int = 4,
    jobs: int = 800,
    servers: int = 250,
    gpus: int = 4,
    iterations: tuple[int, ...] = (200, 500, 1000, 2000),
) -> PlacementInstance:
    """Many single-task jobs of a few classes, all jobs of a class alike."""
    kinds = [
        job.model_copy(update={"type": c, "iterations": int(rng.choice(list(iterations)))})
        for c, job in enumerate(
            jobs_for(rng, racks_of(1, classes), jobs=classes, types=1, tasks=(1,))
        )
    ]
    room = servers * gpus
    drawn = rng.integers(classes, size=min(jobs, room)).tolist()
    return PlacementInstance(
        servers=racks_of(1, servers, gpus, 4 * gpus),
        jobs=tuple(kinds[c] for c in drawn),
        interference=table(rng, classes),
    )


def _instance(
    rng: np.random.Generator,
    servers: tuple[Server, ...],
    jobs: int,
    types: int,
    load: float,
    tasks: Sequence[int] = TASKS,
) -> PlacementInstance:
    interference = table(rng, types)
    drawn = jobs_for(rng, servers, jobs=jobs, types=types, load=load, tasks=tasks)
    return PlacementInstance(servers=servers, jobs=drawn, interference=interference)
