"""The graphs that a policy looks at: inside a server, and between the servers (reconstructed).

An instance tells no more of a server than its GPUs and CPUs, so the same board is assumed for all:
two sockets joined by QPI, the network card at the first, half of the GPUs at each by PCIe.
Servers hang on the switch of their rack, and the switches on one spine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Bools, Floats, Ints

from ..cluster import ClusterInstance

#: Nodes of a server before its GPUs: two sockets and the network card. By definition.
BOARD = 3
#: GBytes per second of an edge. By definition.
PCIE, QPI, NETWORK, UPLINK = 16.0, 20.0, 12.5, 40.0
#: Most GPUs of a server that a policy looks at one by one. Tuned: `benchmarks/constants.py`.
MOST_GPUS = 64


@dataclass(frozen=True)
class Fabric:
    """Both graphs as matrices; each row holds the shares of a node's neighbours in its mean.

    Attributes
    ----------
    inner : array, shape (servers, nodes, nodes)
        Edges inside the servers.
    pool : array, shape (servers, nodes)
        Shares of the nodes in the mean of a server.
    switch_of : array, shape (servers, racks)
        1 at the switch of each server.
    below, above : array, shapes (racks, servers) and (racks, racks)
        Shares of servers, and of the switches behind the spine, in what a switch hears.
    member : array, shape (agents, servers)
        Shares of the servers in the mean of an agent's partition.
    agent : array of int, shape (servers,)
        The agent that owns each server.
    gpu_nodes : array of bool, shape (servers, nodes)
    """

    inner: Floats
    pool: Floats
    switch_of: Floats
    below: Floats
    above: Floats
    member: Floats
    agent: Ints
    gpu_nodes: Bools

    @property
    def agents(self) -> int:
        """Number of agents."""
        return len(self.member)


def fabric_of(instance: ClusterInstance, agents: int) -> Fabric:
    """Return the graphs of a cluster whose servers are split evenly among agents, in their order.

    Raises
    ------
    ModelRefused
        If a server has more than 64 GPUs.
    """
    most = int(instance.gpus.max())
    if most > MOST_GPUS:
        raise ModelRefused(f"a server has {most} GPUs; policies look at no more than {MOST_GPUS}")
    servers = len(instance.servers)
    agents = min(agents, servers)
    boards = {g: _board(g, BOARD + most) for g in set(instance.gpus.tolist())}
    there = np.arange(BOARD + most) < BOARD + instance.gpus[:, None]
    rack = np.searchsorted(instance.racks, [server.rack for server in instance.servers])
    switch_of = np.eye(len(instance.racks))[rack]
    weight_below = NETWORK * switch_of.T
    weight_above = np.full((len(instance.racks), len(instance.racks)), UPLINK)
    weight_above /= len(instance.racks)
    total = weight_below.sum(1, keepdims=True) + weight_above.sum(1, keepdims=True)
    agent = np.arange(servers) * agents // servers
    member = np.eye(agents)[agent].T
    return Fabric(
        inner=np.stack([boards[g] for g in instance.gpus.tolist()]),
        pool=there / there.sum(1, keepdims=True),
        switch_of=switch_of,
        below=weight_below / total,
        above=weight_above / total,
        member=member / member.sum(1, keepdims=True),
        agent=agent.astype(np.int64),
        gpu_nodes=there & (np.arange(BOARD + most) >= BOARD),
    )


def _board(gpus: int, nodes: int) -> Floats:
    edges = np.zeros((nodes, nodes))
    edges[0, 1] = QPI
    edges[0, 2] = PCIE
    for g in range(gpus):
        edges[0 if 2 * g < gpus else 1, BOARD + g] = PCIE
    edges += edges.T
    shares: Floats = edges / np.maximum(1e-12, edges.sum(1, keepdims=True))
    return shares
