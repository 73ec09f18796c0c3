"""Instances and solutions: which features are needed when, and which ones leave the cache."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from gadgetopt.system.data import (
    Data,
    Instance,
    NonNegativeInt,
    PositiveInt,
    Solution,
    without,
)

Nodes = tuple[NonNegativeInt, ...]
PolicyName = Literal["fifo", "lru", "lfu", "static"]


class TrainingGraph(Data):
    """The graph that the training nodes lie in: what proximity-aware orders look at.

    Attributes
    ----------
    num_nodes : int
        Nodes are numbered from 0.
    edges : tuple of (int, int)
        Undirected.
    train_nodes : tuple of int
        The training node of each request.
    labels : tuple of int or None
        Class of each training node; without it all are of one class.
    workers : int
        GPUs that train together: w of the shuffling error.
    """

    num_nodes: Annotated[int, Field(gt=0, le=10**8)]
    edges: tuple[tuple[NonNegativeInt, NonNegativeInt], ...]
    train_nodes: Annotated[Nodes, Field(min_length=1)]
    labels: Nodes | None = None
    workers: PositiveInt = 1

    @model_validator(mode="after")
    def _check(self) -> Self:
        for k, edge in enumerate(self.edges):
            for node in edge:
                if node >= self.num_nodes:
                    raise ValueError(
                        f"edges[{k}]: node {node} is not one of the {self.num_nodes} nodes"
                    )
        for k, node in enumerate(self.train_nodes):
            if node >= self.num_nodes:
                raise ValueError(
                    f"train_nodes[{k}]: node {node} is not one of the {self.num_nodes} nodes"
                )
        if len(set(self.train_nodes)) < len(self.train_nodes):
            raise ValueError("train_nodes: a node occurs twice, expected distinct nodes")
        if self.labels is not None and len(self.labels) != len(self.train_nodes):
            raise ValueError(
                f"labels: {len(self.labels)} for {len(self.train_nodes)} training nodes"
            )
        return self


class RunningCost(Data):
    """What a policy costs to run, in the unit of `remote_cost`.

    Attributes
    ----------
    lookup : int
        Of every node that a batch needs.
    hit : int
        Of every one that is found: what the policy notes of it.
    admit, evict : int
        Of every node that is taken in, and that leaves.
    """

    lookup: NonNegativeInt = 0
    hit: NonNegativeInt = 0
    admit: NonNegativeInt = 0
    evict: NonNegativeInt = 0


class PolicyCosts(Data):
    """Running costs of the policies that a cache may have; the defaults are (reconstructed)."""

    fifo: RunningCost = RunningCost(lookup=1, admit=1, evict=1)
    lru: RunningCost = RunningCost(lookup=1, hit=1, admit=1, evict=1)
    lfu: RunningCost = RunningCost(lookup=1, hit=2, admit=1, evict=2)
    static: RunningCost = RunningCost(lookup=1)

    def of(self, policy: PolicyName) -> RunningCost:
        """Return the cost of a policy."""
        cost: RunningCost = getattr(self, policy)
        return cost


class Gpus(Data):
    """GPUs that train side by side, each with a cache of its own, in steps of a batch each.

    Attributes
    ----------
    count : int
        D.
    caches : "private", "partitioned" or "shared"
        Whether each GPU caches for itself, or node v is cached by GPU v mod D for all, or by any
        one GPU for all.
    peer_cost : int
        Cost of a feature of weight 1 that a GPU gets from another one's cache; 0 where these are
        private, at most `remote_cost` where they are shared.
    objective : "total" or "synchronous"
        What all GPUs pay, or in each step what the GPU pays that pays most.
    """

    count: Annotated[int, Field(ge=2, le=64)]
    caches: Literal["private", "partitioned", "shared"]
    peer_cost: NonNegativeInt = 0
    objective: Literal["total", "synchronous"] = "total"

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write the total not as an objective, as files from before there was another."""
        return without(write(self), self, "objective")

    @property
    def apart(self) -> bool:
        """True if in a given order each cache is a problem of its own."""
        return self.caches != "shared" and self.objective == "total"

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.caches == "private" and self.peer_cost:
            raise ValueError(f"peer_cost: {self.peer_cost}, expected 0 where caches are private")
        return self


class CacheInstance(Instance):
    r"""Requests for features, a cache, and whether their order is given.

    A request is a training node's sampled neighbourhood, and consecutive requests of an order form
    a mini-batch; with `batch_size` 1 the requests are the mini-batches :math:`B_1, ..., B_M`.

    Attributes
    ----------
    requests : tuple of tuple of int
        Nodes whose features a request needs, in ascending order.
    capacity : int
        :math:`K`: nodes, or units of `sizes`, that the device retains between two batches.
    order : "given" or "free"
        Whether requests are processed in the order of the file, or the order is a decision.
    batch_size : int
        Requests in a mini-batch; the last one may be smaller.
    weights : tuple of int or None
        :math:`w_v` of node v, such as its bytes; 1 without them.
    sizes : tuple of int or None
        Space that node v takes in a cache; 1 without them.
    remote_cost : int
        Cost of loading a feature of weight 1 from the graph store: a miss.
    host_capacity : int
        Space of a second cache in host memory; 0 if there is none.
    host_cost : int
        Cost of loading a feature of weight 1 from host memory, less than `remote_cost`.
    graph : TrainingGraph or None
    policy_cost : PolicyCosts or None
        With it the cache has one of four policies, which costs something to run: the policy is a
        decision, and what leaves is what it says. Without it, what leaves is the decision.
    gpus : Gpus or None
        Several GPUs; `capacity` is that of each. Without it there is one.
    """

    requests: Annotated[tuple[Annotated[Nodes, Field(min_length=1)], ...], Field(min_length=1)]
    capacity: NonNegativeInt
    order: Literal["given", "free"]
    batch_size: PositiveInt = 1
    weights: tuple[PositiveInt, ...] | None = None
    sizes: tuple[PositiveInt, ...] | None = None
    remote_cost: PositiveInt = 1
    host_capacity: NonNegativeInt = 0
    host_cost: NonNegativeInt = 0
    graph: TrainingGraph | None = None
    policy_cost: PolicyCosts | None = None
    gpus: Gpus | None = None

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write no costs of policies and no GPUs if there are none, as files from before them."""
        return without(write(self), self, "policy_cost", "gpus")

    @model_validator(mode="after")
    def _check(self) -> Self:
        for k, nodes in enumerate(self.requests):
            if any(a >= b for a, b in pairwise(nodes)):
                raise ValueError(
                    f"requests[{k}]: nodes are not ascending, expected each once, smallest first"
                )
        last = max(nodes[-1] for nodes in self.requests)
        for name, amounts in (("weights", self.weights), ("sizes", self.sizes)):
            if amounts is not None and len(amounts) <= last:
                raise ValueError(
                    f"{name}: {len(amounts)} entries, but node {last} is requested, "
                    "expected one for every node from 0 on"
                )
        if self.host_capacity and self.host_cost >= self.remote_cost:
            raise ValueError(
                f"host_cost: {self.host_cost} is not less than remote_cost, {self.remote_cost}"
            )
        if self.graph is not None and len(self.graph.train_nodes) != len(self.requests):
            raise ValueError(
                f"graph.train_nodes: {len(self.graph.train_nodes)} for "
                f"{len(self.requests)} requests"
            )
        if self.policy_cost is not None and not (
            self.batch_size == 1
            and self.host_capacity == 0
            and self.unit_sizes
            and self.unit_weights
        ):
            raise ValueError(
                "policy_cost: expected none where batches are of several requests, there is a "
                "host, or weights or sizes differ"
            )
        if self.gpus is not None and (self.batch_size > 1 or self.host_capacity):
            raise ValueError(
                "gpus: expected none where batches are of several requests or there is a host"
            )
        if self.gpus is not None and self.gpus.caches == "shared":
            if self.policy_cost is not None:
                raise ValueError(
                    "policy_cost: expected none where caches are shared, as no policy says on "
                    "which GPU a feature lies"
                )
            if self.gpus.peer_cost > self.remote_cost:
                raise ValueError(
                    f"gpus.peer_cost: {self.gpus.peer_cost}, expected at most remote_cost, "
                    f"{self.remote_cost}, where caches are shared"
                )
        return self

    @property
    def num_batches(self) -> int:
        """M, the number of mini-batches."""
        return -(-len(self.requests) // self.batch_size)

    @cached_property
    def frequency(self) -> Counter[int]:
        """Number of requests that need each node."""
        return Counter(node for nodes in self.requests for node in nodes)

    @property
    def unit_sizes(self) -> bool:
        """True if every node that is requested takes one unit of the cache."""
        return self.sizes is None or all(self.sizes[v] == 1 for v in self.frequency)

    @property
    def unit_weights(self) -> bool:
        """True if all misses cost the same."""
        return self.weights is None or len({self.weights[v] for v in self.frequency}) == 1

    def weight(self, node: int) -> int:
        """Return w of a node."""
        return 1 if self.weights is None else self.weights[node]

    def size(self, node: int) -> int:
        """Return the space that a node takes."""
        return 1 if self.sizes is None else self.sizes[node]

    def miss_cost(self, node: int) -> int:
        """Return the cost of loading a node's feature from the graph store."""
        return self.remote_cost * self.weight(node)

    @cached_property
    def compulsory_cost(self) -> int:
        """Cost of loading every feature once."""
        return sum(self.miss_cost(v) for v in self.frequency)

    def batches(self, order: Nodes) -> list[list[int]]:
        """Return the nodes of each mini-batch of an order of the requests, ascending."""
        b = self.batch_size
        return [
            list(self.requests[order[k]])
            if b == 1
            else sorted({v for t in order[k : k + b] for v in self.requests[t]})
            for k in range(0, len(order), b)
        ]


class GpuPlan(Data):
    """What one of several GPUs does with its cache.

    Attributes
    ----------
    evicted : tuple of tuple of int
        Nodes that leave after each time but the last that something is asked of the cache; empty
        where caches are shared.
    preloaded : tuple of int
        Nodes that are loaded before the first batch.
    held : tuple of tuple of int
        Nodes that it holds after each step but the last, where caches are shared.
    """

    evicted: tuple[Nodes, ...] = ()
    preloaded: Nodes = ()
    held: tuple[Nodes, ...] = ()

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write what is held only where caches are shared."""
        return without(write(self), self, "held")


class CacheSolution(Solution):
    """An order of the requests, and what leaves the caches after each mini-batch but the last.

    Attributes
    ----------
    order : tuple of int
        Requests as they are processed.
    evicted : tuple of tuple of int
        Nodes that leave the device: of those it held and those of the batch.
    demoted : tuple of tuple of int
        Of these, what the host takes; empty without a host cache.
    dropped : tuple of tuple of int
        Nodes that leave the host for good; empty without a host cache.
    preloaded : tuple of int
        Nodes that are loaded before the first batch.
    policy : "fifo", "lru", "lfu", "static" or None
        What the cache runs, where that costs something.
    gpus : tuple of GpuPlan
        One for each of several GPUs; `order` then goes through the steps, in each through the GPUs,
        and `evicted` and `preloaded` are empty.
    """

    order: Nodes
    evicted: tuple[Nodes, ...]
    demoted: tuple[Nodes, ...] = ()
    dropped: tuple[Nodes, ...] = ()
    preloaded: Nodes = ()
    policy: PolicyName | None = None
    gpus: tuple[GpuPlan, ...] = ()

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write no GPUs if there is one."""
        return without(write(self), self, "gpus")


def size(instance: CacheInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    return {
        "batches": instance.num_batches,
        "nodes": len(instance.frequency),
        "requests": sum(map(len, instance.requests)),
        "capacity": instance.capacity,
    }
