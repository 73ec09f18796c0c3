"""Features of instances: density of the network and difficulty of packing trees into it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.system.features import mean, variation

from .instance import ForestPackingInstance
from .network import Network


def features(instance: ForestPackingInstance) -> dict[str, float]:
    """Return density and difficulty of an instance.

    - `arc_density`: arcs over ordered pairs of nodes.
    - `mean_bandwidth_gbyte_per_s`, `bandwidth_variation`: of the arcs, the latter a coefficient of
      variation.
    - `asymmetry`: bandwidth that the reverse arc lacks, over all bandwidth; 0 where every arc has
      an equal reverse.
    - `narrowest_worker_share`: bandwidth into or out of the worker with the least, over the mean of
      all workers; far below 1, that worker is the bottleneck.
    - `worker_variation`: coefficient of variation of that bandwidth over workers.
    - `limited_nodes_share`: part of the nodes with a limit on what enters or leaves.
    - `hops_from_first_worker`: to the node farthest from it, as far as nodes can be reached.
    - `restricted`: 1 where trees are limited in number, share or depth.
    """
    network = instance.network
    capacity = network.capacity_float
    into = _by_node(network, network.heads, instance.nic_in_gbyte_per_s)
    out = _by_node(network, network.tails, instance.nic_out_gbyte_per_s)
    workers = np.minimum(into, out)[: network.num_workers].tolist()
    limited = {*instance.nic_in_gbyte_per_s, *instance.nic_out_gbyte_per_s}
    n = network.num_nodes
    return {
        "arc_density": len(network.arcs) / (n * (n - 1)),
        "mean_bandwidth_gbyte_per_s": mean(capacity.tolist()),
        "bandwidth_variation": variation(capacity),
        "asymmetry": _asymmetry(network),
        "narrowest_worker_share": min(workers) / mean(workers) if mean(workers) else 0.0,
        "worker_variation": variation(workers),
        "limited_nodes_share": len(limited) / n,
        "hops_from_first_worker": float(_farthest(network)),
        "restricted": float(instance.restricted),
    }


def _by_node(network: Network, ends: Ints, limits: Mapping[int, float]) -> Floats:
    """Return the bandwidth at each node's end of its arcs, at most what its NIC allows."""
    total = np.zeros(network.num_nodes)
    np.add.at(total, ends, network.capacity_float)
    for label, limit in limits.items():
        v = network.index[label]
        total[v] = min(total[v], limit)
    return total


def _asymmetry(network: Network) -> float:
    capacity = dict(zip(network.arcs, network.capacity_float.tolist(), strict=True))
    total = sum(capacity.values())
    lacking = sum(max(0.0, c - capacity.get((v, u), 0.0)) for (u, v), c in capacity.items())
    return lacking / total if total else 0.0


def _farthest(network: Network) -> int:
    hops = {0: 0}
    queue = deque([0])
    while queue:
        u = queue.popleft()
        for a in network.out_arcs[u]:
            v = network.arcs[a][1]
            if v not in hops:
                hops[v] = hops[u] + 1
                queue.append(v)
    return max(hops.values())
