"""Presets with what lies inside servers and between them (reconstructed)."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from gadgetopt.errors import InputError
from gadgetopt.pieces.server_boards import BoardName, board_of
from gadgetopt.system.declaring import generator

from ....subproblems.architecture import Network
from ....subproblems.cluster import Server
from ....subproblems.random_jobs import fat_tree_of, racks_of, with_gradients
from ...instance import QueueingInstance
from .presets import arriving

if TYPE_CHECKING:
    import numpy as np

#: GBytes per second of a network card, 100 Gbit/s, and seconds of a hop. By definition.
NIC, HOP_S = Fraction(25, 2), Fraction(1, 1000)


@generator()
def boards(
    rng: np.random.Generator,
    *,
    jobs: int = 6,
    servers: int = 2,
    slots: int = 12,
    slots_between: float = 0.5,
    board: BoardName = "nvlink_pairs",
    migration: bool = True,
) -> QueueingInstance:
    """One rack of servers whose sockets, PCIe switches and NVLinks cost something."""
    gpus = 4 if board == "none" else board_of(board).gpus
    found = racks_of(1, servers, gpus, 4 * gpus)
    return _on(rng, found, None, board, jobs, slots, slots_between, migration)


@generator()
def fat_tree(
    rng: np.random.Generator,
    *,
    ports: int = 4,
    jobs: int = 8,
    slots: int = 12,
    slots_between: float = 0.3,
    board: BoardName = "none",
    migration: bool = True,
) -> QueueingInstance:
    """A fat tree: k pods of k/2 racks of k/2 servers; 2, 4 or 6 hops."""
    plain = fat_tree_of(ports)
    servers = tuple(
        server.model_copy(update={"address": (server.rack // (ports // 2), server.rack)})
        for server in plain
    )
    network = _network("tree", (2, 4, 6))
    return _on(rng, servers, network, board, jobs, slots, slots_between, migration)


@generator()
def vl2(
    rng: np.random.Generator,
    *,
    aggregation_ports: int = 4,
    intermediate_ports: int = 4,
    servers_per_rack: int = 20,
    jobs: int = 8,
    slots: int = 12,
    slots_between: float = 0.3,
    board: BoardName = "none",
    migration: bool = True,
) -> QueueingInstance:
    """VL2: D_A D_I / 4 racks of 20 servers; 2 hops in a rack, else 6."""
    number = aggregation_ports * intermediate_ports
    if min(aggregation_ports, intermediate_ports) < 1 or number % 4:
        raise InputError(
            f"aggregation_ports: {aggregation_ports} times intermediate_ports, "
            f"{intermediate_ports}, expected a positive multiple of 4"
        )
    servers = tuple(
        server.model_copy(update={"address": (server.rack,)})
        for server in racks_of(number // 4, servers_per_rack)
    )
    network = _network("tree", (2, 6))
    return _on(rng, servers, network, board, jobs, slots, slots_between, migration)


@generator()
def bcube(
    rng: np.random.Generator,
    *,
    ports: int = 4,
    level: int = 1,
    jobs: int = 8,
    slots: int = 12,
    slots_between: float = 0.3,
    board: BoardName = "none",
    migration: bool = True,
) -> QueueingInstance:
    """BCube(n, k): n^(k+1) servers, addresses of k + 1 digits, two hops for each that differs."""
    if ports < 2 or level < 0 or ports ** (level + 1) > MOST_SERVERS:
        raise InputError(
            f"ports: {ports}, expected at least 2, and no more than {MOST_SERVERS} servers"
        )
    servers = tuple(
        Server(gpus=4, cpus=16, rack=k // ports, address=address)
        for k, address in enumerate(itertools.product(range(ports), repeat=level + 1))
    )
    network = _network("cube", tuple(2 * (digits + 1) for digits in range(level + 1)))
    return _on(rng, servers, network, board, jobs, slots, slots_between, migration)


#: Most servers of a BCube that is drawn. By definition.
MOST_SERVERS = 10_000


def _network(kind: Literal["tree", "cube"], hops: tuple[int, ...]) -> Network:
    return Network(
        kind=kind,
        nic_gbytes_s=NIC,
        hops=hops,
        oversubscription=(Fraction(1),) * len(hops),
        hop_s=HOP_S,
    )


def _on(
    rng: np.random.Generator,
    servers: tuple[Server, ...],
    network: Network | None,
    board: BoardName,
    jobs: int,
    slots: int,
    slots_between: float,
    migration: bool,
) -> QueueingInstance:
    """Return jobs with gradients that arrive at a cluster."""
    if board == "cube_mesh":
        servers = tuple(server.model_copy(update={"gpus": 8, "cpus": 32}) for server in servers)
    bare = tuple(server.model_copy(update={"address": ()}) for server in servers)
    plain = arriving(
        rng, bare, jobs=jobs, slots=slots, slots_between=slots_between, migration=migration
    )
    return with_architecture(rng, plain, servers, network, board)


def with_architecture(
    rng: np.random.Generator,
    plain: QueueingInstance,
    servers: tuple[Server, ...],
    network: Network | None,
    board: BoardName,
) -> QueueingInstance:
    """Return the jobs of an instance with random gradients, on servers with boards or addresses."""
    own = {} if network is None else {"rack_comm_s": Fraction(0), "cross_comm_s": Fraction(0)}
    return QueueingInstance(
        servers=servers,
        jobs=with_gradients(rng, plain.jobs, **own),
        interference=plain.interference,
        measured=plain.measured,
        slot_s=plain.slot_s,
        num_slots=plain.num_slots,
        migration=plain.migration,
        boards=() if board == "none" else (board_of(board),),
        network=network,
    )
