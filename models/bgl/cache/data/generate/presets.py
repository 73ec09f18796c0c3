"""Presets of batches at random, and of training on graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from gadgetopt.errors import InputError
from gadgetopt.system.declaring import generator

if TYPE_CHECKING:
    import networkx as nx
    import numpy as np

    from ...instance import CacheInstance


@generator()
def quickstart(
    rng: np.random.Generator,
    *,
    batches: int = 9,
    nodes: int = 20,
    batch_nodes: int = 5,
    capacity: int = 5,
) -> CacheInstance:
    """A few small batches in free order, overlapping by chance.

    Return batches on which the best order loads less than the heaviest path.
    """
    return _batches(rng, batches, nodes, batch_nodes, capacity)


@generator()
def policies(
    rng: np.random.Generator,
    *,
    batches: int = 8,
    nodes: int = 16,
    batch_nodes: int = 4,
    capacity: int = 4,
    remote_cost: int = 10,
) -> CacheInstance:
    """Batches that overlap by chance, for a cache whose policy costs something to run.

    Return batches with the running costs of `PolicyCosts` (reconstructed).
    """
    from ...instance import CacheInstance, PolicyCosts

    drawn = _batches(rng, batches, nodes, batch_nodes, capacity)
    return CacheInstance(
        requests=drawn.requests,
        capacity=capacity,
        order="free",
        remote_cost=remote_cost,
        policy_cost=PolicyCosts(),
    )


@generator()
def gpus(
    rng: np.random.Generator,
    *,
    batches: int = 8,
    nodes: int = 12,
    batch_nodes: int = 3,
    capacity: int = 2,
    count: int = 2,
    caches: Literal["private", "partitioned", "shared"] = "partitioned",
    peer_cost: int = 3,
    remote_cost: int = 10,
    policies: bool = False,
    objective: Literal["total", "synchronous"] = "total",
) -> CacheInstance:
    """Batches that overlap by chance, over several GPUs with caches for each or for all.

    Return batches with the costs of peers where caches are not private, and with the running costs
    of `PolicyCosts` where policies are decided (reconstructed).
    """
    from ...instance import CacheInstance, Gpus, PolicyCosts

    drawn = _batches(rng, batches, nodes, batch_nodes, capacity)
    return CacheInstance(
        requests=drawn.requests,
        capacity=capacity,
        order="free",
        remote_cost=remote_cost,
        policy_cost=PolicyCosts() if policies else None,
        gpus=Gpus(
            count=count,
            caches=caches,
            peer_cost=0 if caches == "private" else peer_cost,
            objective=objective,
        ),
    )


@generator()
def paper(
    rng: np.random.Generator,
    *,
    caves: int = 200,
    cave_nodes: int = 15,
    train_share: float = 0.2,
    batch_size: int = 30,
    fanouts: str = "5,3",
    capacity_share: float = 0.1,
) -> CacheInstance:
    """Training on a connected caveman graph, whose caves are the classes.

    The paper's graphs have millions to billions of nodes; this is the toy of its locality
    (reconstructed).
    """
    import networkx as nx

    graph = nx.connected_caveman_graph(caves, cave_nodes)
    labels = [v // cave_nodes % 10 for v in range(len(graph))]
    return _training(rng, graph, labels, train_share, batch_size, fanouts, capacity_share)


@generator()
def geometric(
    rng: np.random.Generator,
    *,
    nodes: int = 3000,
    radius: float = 0.035,
    train_share: float = 0.2,
    batch_size: int = 30,
    fanouts: str = "5,3",
    capacity_share: float = 0.1,
) -> CacheInstance:
    """Training on a random geometric graph: locality without classes."""
    import networkx as nx

    graph = nx.random_geometric_graph(nodes, radius, seed=int(rng.integers(2**31)))
    place = [graph.nodes[v]["pos"] for v in range(nodes)]
    labels = [3 * min(2, int(3 * x)) + min(2, int(3 * y)) for x, y in place]
    return _training(rng, graph, labels, train_share, batch_size, fanouts, capacity_share)


@generator()
def power_law(
    rng: np.random.Generator,
    *,
    nodes: int = 3000,
    train_share: float = 0.2,
    batch_size: int = 30,
    fanouts: str = "5,3",
    capacity_share: float = 0.1,
) -> CacheInstance:
    """Training on a power-law cluster graph: hubs instead of locality."""
    import networkx as nx

    graph = nx.powerlaw_cluster_graph(nodes, 5, 0.6, seed=int(rng.integers(2**31)))
    labels = rng.integers(0, 10, size=nodes).tolist()
    return _training(rng, graph, labels, train_share, batch_size, fanouts, capacity_share)


@generator()
def batches(
    rng: np.random.Generator,
    *,
    batches: int = 14,
    nodes: int = 28,
    batch_nodes: int = 6,
    capacity: int = 6,
    order: Literal["free", "given"] = "free",
    most_weight: int = 1,
    most_size: int = 1,
) -> CacheInstance:
    """Fixed batches drawn uniformly, order free or given.

    Return fixed batches of distinct nodes, with weights and sizes drawn from 1 on.
    """
    drawn = _batches(rng, batches, nodes, batch_nodes, capacity)
    changed: dict[str, object] = {"order": order}
    if most_weight > 1:
        changed["weights"] = tuple(rng.integers(1, most_weight + 1, size=nodes).tolist())
    if most_size > 1:
        changed["sizes"] = tuple(rng.integers(1, most_size + 1, size=nodes).tolist())
    return drawn.model_copy(update=changed)


@generator()
def paging(
    rng: np.random.Generator,
    *,
    requests: int = 500,
    nodes: int = 60,
    capacity: int = 10,
    exponent: float = 1.0,
) -> CacheInstance:
    """Requests of one node in given order, popularity by Zipf's law."""
    import numpy as np

    from ...instance import CacheInstance

    share = 1.0 / np.arange(1, nodes + 1) ** exponent
    drawn = rng.choice(nodes, size=requests, p=share / share.sum())
    return CacheInstance(requests=tuple((int(v),) for v in drawn), capacity=capacity, order="given")


def _batches(
    rng: np.random.Generator, batches: int, nodes: int, batch_nodes: int, capacity: int
) -> CacheInstance:
    from ...instance import CacheInstance

    if not 1 <= batch_nodes <= nodes:
        raise InputError(f"batch_nodes: {batch_nodes}, expected 1 to nodes, {nodes}")
    drawn = [rng.choice(nodes, size=batch_nodes, replace=False) for _ in range(batches)]
    return CacheInstance(
        requests=tuple(tuple(sorted(chosen.tolist())) for chosen in drawn),
        capacity=capacity,
        order="free",
    )


def _training(
    rng: np.random.Generator,
    graph: nx.Graph,
    labels: list[int],
    train_share: float,
    batch_size: int,
    fanouts: str,
    capacity_share: float,
) -> CacheInstance:
    """Return training on a graph: training nodes, shuffled, and their sampled neighbourhoods."""
    from ...instance import CacheInstance, TrainingGraph

    if not 0 < train_share <= 1:
        raise InputError(f"train_share: {train_share}, expected more than 0 and at most 1")
    hops = _fanouts(fanouts)
    count = len(graph)
    train = rng.choice(count, size=max(1, round(train_share * count)), replace=False).tolist()
    neighbours = [sorted(graph[v]) for v in range(count)]
    requests = []
    for t in train:
        needed, frontier = {t}, [t]
        for hop in hops:
            reached: set[int] = set()
            for u in frontier:
                near = neighbours[u]
                if len(near) > hop:
                    picked = rng.choice(len(near), size=hop, replace=False)
                    near = [near[k] for k in picked.tolist()]
                reached.update(near)
            frontier = sorted(reached)
            needed |= reached
        requests.append(tuple(sorted(needed)))
    return CacheInstance(
        requests=tuple(requests),
        capacity=round(capacity_share * count),
        order="free",
        batch_size=batch_size,
        graph=TrainingGraph(
            num_nodes=count,
            edges=tuple(sorted((min(e), max(e)) for e in graph.edges)),
            train_nodes=tuple(train),
            labels=tuple(labels[t] for t in train),
        ),
    )


def _fanouts(text: str) -> list[int]:
    try:
        hops = [int(part) for part in text.split(",")]
    except ValueError:
        hops = []
    if not hops or min(hops) < 1:
        raise InputError(f"fanouts: {text!r}, expected positive integers such as '5,3'")
    return hops
