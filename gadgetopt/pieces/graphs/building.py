"""A graph that is built node by node, before a system makes an instance of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from gadgetopt.errors import InputError


@dataclass(frozen=True)
class Node:
    """A node: its number from 0, its name, and what is said of it."""

    number: int
    name: str
    fields: Mapping[str, Any]

    def __str__(self) -> str:
        return f"node {self.name}" if self.name else f"node {self.number}"


@dataclass(frozen=True)
class Edge:
    """An edge from one node to another, and what is said of it."""

    tail: Node
    head: Node
    fields: Mapping[str, Any]

    def __str__(self) -> str:
        return f"edge from {self.tail} to {self.head}"


@dataclass(frozen=True)
class Graph:
    """Nodes and edges in the order in which they were added."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def check_fields(self, of_nodes: Collection[str], of_edges: Collection[str]) -> None:
        """Refuse fields that nodes or edges do not have."""
        for known, parts in ((of_nodes, self.nodes), (of_edges, self.edges)):
            for part in parts:
                for key in part.fields:
                    if key not in known:
                        has = ", ".join(known) or "none"
                        raise InputError(f"{part}: no field {key!r} (it has: {has})")

    def named(self) -> dict[int, str]:
        """Return a name for each node; its own, or its number with an `n` before it.

        Raises
        ------
        InputError
            If two are alike.
        """
        names = {node.number: node.name or f"n{node.number}" for node in self.nodes}
        for name, count in Counter(names.values()).items():
            if count > 1:
                raise InputError(f"node {name}: {count} nodes of this name, expected one")
        return names

    def in_order(self) -> list[Node]:
        """Return the nodes so that each edge leads forward; otherwise as they were added.

        Raises
        ------
        InputError
            If edges form a circle.
        """
        waiting = Counter(edge.head.number for edge in self.edges)
        out: list[Node] = []
        left = list(self.nodes)
        while left:
            ready = next((node for node in left if not waiting[node.number]), None)
            if ready is None:
                raise InputError(f"{left[0]}: lies on a circle, or behind one")
            left.remove(ready)
            out.append(ready)
            waiting.subtract(e.head.number for e in self.edges if e.tail is ready)
        return out

    def chains(self) -> list[tuple[list[Node], list[Edge]]]:
        """Return the nodes and edges of each chain, in the order of their first nodes.

        Raises
        ------
        InputError
            If the graph has anything else than chains.
        """
        after: dict[int, Edge] = {}
        heads: set[int] = set()
        for edge in self.edges:
            if edge.tail.number in after:
                raise InputError(f"{edge.tail}: two edges lead from it, expected a chain")
            if edge.head.number in heads:
                raise InputError(f"{edge.head}: two edges lead to it, expected a chain")
            after[edge.tail.number] = edge
            heads.add(edge.head.number)
        out: list[tuple[list[Node], list[Edge]]] = []
        for node in self.nodes:
            if node.number in heads:
                continue
            nodes, edges = [node], []
            while nodes[-1].number in after:
                edges.append(after[nodes[-1].number])
                nodes.append(edges[-1].head)
            out.append((nodes, edges))
        if sum(len(nodes) for nodes, _ in out) < len(self.nodes):
            raise InputError("edges form a circle, expected a chain")
        return out
