"""Instances and solutions: a graph with training nodes, and the server of every node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gadgetopt.system.data import (
    Instance,
    NonNegativeInt,
    PositiveInt,
    Rational,
    Solution,
)

from .graph import Graph
from .requests import PairWeights, edge_weights, request_weights

#: Nodes of a graph, hops of a sampler, and parts: what 64-bit arrays of a table can hold.
MOST_NODES, MOST_HOPS, MOST_PARTS = 10**8, 10, 10**6

Imbalance = Annotated[Rational, Field(ge=0)]
Edge = tuple[NonNegativeInt, NonNegativeInt]


class BglPartitionInstance(Instance):
    r"""A graph for several graph-store servers.

    Attributes
    ----------
    num_nodes : int
        n; nodes are numbered from 0.
    edges : tuple of (int, int)
        E, each pair once. In a directed graph [u, v] says that u samples v.
    directed : bool
        False: the endpoints of an edge sample each other.
    train_nodes : tuple of int
        T, from which mini-batches are sampled.
    num_parts : int
        k: servers.
    node_imbalance, train_imbalance : Rational
        :math:`\epsilon` and :math:`\epsilon_T`: a part has at most
        :math:`C = \lfloor (1 + \epsilon) \lceil n / k \rceil \rfloor` nodes and
        :math:`C_T = \lfloor (1 + \epsilon_T) \lceil |T| / k \rceil \rfloor` training nodes.
    fanouts : tuple of int
        :math:`f_1, \dots, f_L`: sampled neighbours per hop.
    weights : "requests" or "edge"
        What is cut: expected remote requests, (1), or pairs of neighbours, each counted once, also
        where a directed graph has edges both ways.
    """

    num_nodes: Annotated[int, Field(gt=0, le=MOST_NODES)]
    edges: tuple[Edge, ...]
    directed: bool = False
    train_nodes: Annotated[tuple[NonNegativeInt, ...], Field(min_length=1)]
    num_parts: Annotated[int, Field(ge=2, le=MOST_PARTS)]
    node_imbalance: Imbalance = Fraction(0)
    train_imbalance: Imbalance = Fraction(0)
    fanouts: Annotated[tuple[PositiveInt, ...], Field(min_length=1, max_length=MOST_HOPS)]
    weights: Literal["requests", "edge"] = "requests"

    @model_validator(mode="after")
    def _is_a_graph(self) -> Self:
        seen: set[tuple[int, ...]] = set()
        for e, edge in enumerate(self.edges):
            u, v = edge
            if u >= self.num_nodes or v >= self.num_nodes:
                raise ValueError(
                    f"edges[{e}]: node {max(u, v)}, expected nodes 0 to {self.num_nodes - 1}"
                )
            if u == v:
                raise ValueError(f"edges[{e}]: a loop at node {u}, expected two different nodes")
            pair = edge if self.directed or u < v else (v, u)
            if pair in seen:
                raise ValueError(
                    f"edges[{e}]: {u} and {v} are joined twice, expected each edge once"
                )
            seen.add(pair)
        trained: set[int] = set()
        for t, node in enumerate(self.train_nodes):
            if node >= self.num_nodes:
                raise ValueError(
                    f"train_nodes[{t}]: {node}, expected nodes 0 to {self.num_nodes - 1}"
                )
            if node in trained:
                raise ValueError(f"train_nodes[{t}]: {node} occurs twice, expected each once")
            trained.add(node)
        return self

    @property
    def node_cap(self) -> int:
        """C: most nodes of a part, never more than there are."""
        return cap(self.num_nodes, self.num_parts, self.node_imbalance)

    @property
    def train_cap(self) -> int:
        """C_T: most training nodes of a part."""
        return cap(len(self.train_nodes), self.num_parts, self.train_imbalance)

    @property
    def used_parts(self) -> int:
        """Parts that any solution needs: no more than there are nodes."""
        return min(self.num_parts, self.num_nodes)

    @cached_property
    def graph(self) -> Graph:
        """The graph by which nodes are neighbours, either way, as arrays."""
        return Graph.of(self.num_nodes, self.edges)

    @cached_property
    def pair_weights(self) -> PairWeights:
        """q, (1): what separating two nodes costs.

        Raises
        ------
        ModelRefused
            If there are too many pairs.
        """
        if self.weights == "edge":
            return edge_weights(self.num_nodes, self.edges)
        return request_weights(
            self.num_nodes, list(self.sampled_from()), self.train_nodes, self.fanouts
        )

    def sampled_from(self) -> Iterator[list[int]]:
        """Yield for every node the neighbours that it samples, in ascending order."""
        lists: list[list[int]] = [[] for _ in range(self.num_nodes)]
        for u, v in self.edges:
            lists[u].append(v)
            if not self.directed:
                lists[v].append(u)
        for neighbours in lists:
            neighbours.sort()
            yield neighbours


class BglPartitionSolution(Solution):
    """The part of every node, numbered from 0."""

    part: tuple[NonNegativeInt, ...]

    @classmethod
    def of(cls, part: Sequence[int]) -> BglPartitionSolution:
        """Return the solution with these parts, integers of any kind."""
        return cls(part=tuple(int(i) for i in part))


def cap(count: int, parts: int, imbalance: Fraction) -> int:
    """Return the most of so many things that a part may hold, at most all of them."""
    mean = -(-count // parts)
    return min(count, (mean * (1 + imbalance)).__floor__())


def size(instance: BglPartitionInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    return {
        "nodes": instance.num_nodes,
        "edges": len(instance.edges),
        "train_nodes": len(instance.train_nodes),
        "parts": instance.num_parts,
    }
