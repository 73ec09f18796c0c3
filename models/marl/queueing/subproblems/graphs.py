r"""The graphs that a policy looks at where jobs arrive, with kinds of edges (reconstructed).

Inside a server the nodes are sockets, the network card, GPUs and PCIe switches. Edges are NVLinks,
PCIe, between sockets, or to the card, and each weighs its bandwidth by all that its node has.
Between servers there are switches on levels: racks, pods, the core. In a tree a switch hears those
below it; in a cube there is one for every digit of an address, and all hear servers. A server
without a board has two sockets with half of the GPUs each, and without a network racks hang on
one core.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Floats

from ...subproblems.learned.fabric import BOARD, NETWORK, PCIE, QPI, Fabric, fabric_of
from ..instance import QueueingInstance

#: Kinds of edges in a server, and of levels between servers. By definition.
EDGES = ("nvlink", "pcie", "sockets", "nic")
LEVELS = ("rack", "pod", "core")
#: Nodes of every server: two sockets, the card, GPUs; then other sockets, and switches. By
#: definition.
_CARD = 2


@dataclass(frozen=True)
class Graphs:
    """Both graphs as matrices.

    Attributes
    ----------
    fabric : Fabric
        Agents and their servers; which nodes are GPUs.
    edges : tuple of array, shape (servers, nodes, nodes)
        Of each of `EDGES` the shares of neighbours in what a node hears.
    pool : array, shape (servers, nodes)
        Shares of the GPUs in the mean of a server.
    levels : tuple of str
        Of `LEVELS`, from the servers up.
    hears : tuple of array
        Shares of what is below in what the switches of each level hear: servers, or in a tree
        beyond the racks the switches of the level before.
    under : tuple of array, shape (servers, switches)
        1 at the switch of each server, by level.
    nested : bool
        True but for a cube.
    """

    fabric: Fabric
    edges: tuple[Any, ...]
    pool: Any
    levels: tuple[str, ...]
    hears: tuple[Any, ...]
    under: tuple[Any, ...]
    nested: bool

    def turned(self, make: Callable[[Floats], Any]) -> Graphs:
        """Return these graphs with other arrays, tensors for example, in the place of all."""
        return replace(
            self,
            fabric=replace(self.fabric, **{k: make(v) for k, v in vars(self.fabric).items()}),
            edges=tuple(map(make, self.edges)),
            pool=make(self.pool),
            hears=tuple(map(make, self.hears)),
            under=tuple(map(make, self.under)),
        )


def graphs_of(instance: QueueingInstance, agents: int) -> Graphs:
    """Return the graphs of a cluster; see `fabric_of`."""
    plain = fabric_of(instance, agents)
    most = plain.gpu_nodes.shape[1] - BOARD
    kinds = {
        (server.gpus, server.board): list(_edges(instance, server.gpus, server.board, most))
        for server in instance.servers
    }
    nodes = 1 + max(max(u, v) for edges in kinds.values() for _, (u, v, _) in edges)
    nodes = max(nodes, BOARD + most)
    matrices = {key: _shares(edges, nodes) for key, edges in kinds.items()}
    of_server = [matrices[server.gpus, server.board] for server in instance.servers]
    gpu_nodes = np.pad(plain.gpu_nodes, ((0, 0), (0, nodes - plain.gpu_nodes.shape[1])))
    levels, groups = _groups(instance)
    under = tuple(np.eye(max(group) + 1)[list(group)] for group in groups)
    nested = instance.network is None or instance.network.kind == "tree"
    servers = np.eye(len(instance.servers))
    below = [servers, *under[:-1]] if nested else [servers] * len(under)
    hears = [(b.T @ u > 0).T.astype(np.float64) for b, u in zip(below, under, strict=True)]
    return Graphs(
        fabric=replace(plain, gpu_nodes=gpu_nodes),
        edges=tuple(np.stack([m[e] for m in of_server]) for e in range(len(EDGES))),
        pool=gpu_nodes / np.maximum(1, gpu_nodes.sum(1, keepdims=True)),
        levels=levels,
        hears=tuple(h / h.sum(1, keepdims=True) for h in hears),
        under=under,
        nested=nested,
    )


def _edges(
    instance: QueueingInstance, gpus: int, board: int, most: int
) -> Iterator[tuple[str, tuple[int, int, float]]]:
    """Yield the edges of a server, whose GPUs are nodes from `BOARD` on, with their kinds."""
    network = instance.network
    card = float(network.nic_gbytes_s) if network is not None else NETWORK
    if not instance.boards:
        yield "sockets", (0, 1, QPI)
        yield "nic", (0, _CARD, card)
        yield from (("pcie", (0 if 2 * g < gpus else 1, BOARD + g, PCIE)) for g in range(gpus))
        return
    inside = instance.boards[board]
    more = itertools.count(BOARD + most)
    sockets = [k if k < _CARD else next(more) for k in range(len(inside.sockets))]
    yield "nic", (0, _CARD, card)
    for pair in itertools.combinations(sockets, 2):
        yield "sockets", (*pair, float(inside.between_gbytes_s))
    for socket, switches in zip(sockets, inside.sockets, strict=True):
        for switch in switches:
            node = next(more)
            yield "pcie", (socket, node, float(inside.socket_gbytes_s))
            for g in switch:
                yield "pcie", (node, BOARD + g, float(inside.switch_gbytes_s))
    for u, v, speed in inside.nvlinks:
        yield "nvlink", (BOARD + u, BOARD + v, float(speed))


def _shares(edges: Sequence[tuple[str, tuple[int, int, float]]], nodes: int) -> Floats:
    found = np.zeros((len(EDGES), nodes, nodes))
    for kind, (u, v, speed) in edges:
        found[EDGES.index(kind), u, v] = found[EDGES.index(kind), v, u] = speed
    shares: Floats = found / np.maximum(1e-12, found.sum(axis=(0, 2))[None, :, None])
    return shares


def _groups(instance: QueueingInstance) -> tuple[tuple[str, ...], list[tuple[int, ...]]]:
    """Return the levels, and of each the switch of every server."""
    network = instance.network
    if network is None:
        keys = [[(server.rack,), ()] for server in instance.servers]
    elif network.kind == "tree":
        keys = [
            [server.address[:digits] for digits in range(network.digits, -1, -1)]
            for server in instance.servers
        ]
    else:
        keys = [
            [server.address[:d] + server.address[d + 1 :] for d in reversed(range(network.digits))]
            for server in instance.servers
        ]
    number = len(keys[0])
    levels = tuple(LEVELS[0 if k == 0 else 2 if k == number - 1 else 1] for k in range(number))
    groups = []
    for k in range(number):
        numbers: dict[tuple[int, ...], int] = {}
        groups.append(tuple(numbers.setdefault(of[k], len(numbers)) for of in keys))
    return levels, groups
