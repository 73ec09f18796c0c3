"""`builder`: an instance that is a graph, node by node and edge by edge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gadgetopt.api.own_data import instance_of
from gadgetopt.errors import InputError
from gadgetopt.pieces.graphs.building import Edge, Graph, Node
from gadgetopt.system.declaration import Problem
from gadgetopt.system.registry import problem, problems

if TYPE_CHECKING:
    from gadgetopt.system.files import Document


class Builder:
    """An instance in the making: nodes, edges, and further fields.

    Parameters
    ----------
    system : str or Problem
    name : str, optional
        Of the instance; default the system's with `_own`.
    like : Document, path or str, optional
        Gives the values of fields that neither the graph nor `fields` say, as in
        `gadgetopt.instance`.
    **fields
        Fields of the instance beside the graph.

    Raises
    ------
    InputError
        If the system's instances are no graphs.

    Examples
    --------
    >>> import gadgetopt
    >>> net = gadgetopt.Builder("forest_packing")
    >>> a, b, c = (net.add_node(name) for name in "abc")
    >>> for one, other in ((a, b), (b, c), (c, a)):
    ...     link = net.add_edge(one, other, bandwidth_gbyte_per_s=10, both=True)
    >>> gadgetopt.solve(net.build()).objective
    Fraction(15, 1)
    """

    def __init__(
        self,
        system: Problem | str,
        *,
        name: str | None = None,
        like: Document[Any] | Path | str | None = None,
        **fields: Any,
    ):
        self._system = system if isinstance(system, Problem) else problem(system)
        if self._system.from_graph is None:
            able = ", ".join(p.name for p in problems() if p.from_graph is not None)
            raise InputError(
                f"{self._system.name}: its instances are no graphs, as those of {able} are; "
                "gadgetopt.instance makes them of tables"
            )
        self._name, self._like, self._fields = name, like, fields
        self._nodes: list[Node] = []
        self._edges: list[Edge] = []

    def add_node(self, name: str = "", **fields: Any) -> Node:
        """Add a node and return it, for `add_edge`."""
        node = Node(len(self._nodes), name, fields)
        self._nodes.append(node)
        return node

    def add_edge(self, tail: Node, head: Node, **fields: Any) -> Edge:
        """Add an edge from one node to another.

        Raises
        ------
        InputError
            If a node is not of this builder.
        """
        for end in (tail, head):
            own = isinstance(end, Node) and end.number < len(self._nodes)
            if not own or self._nodes[end.number] is not end:
                what = "what its add_node returned"
                raise InputError(f"{self._system.name}: {end} is no node of it, expected {what}")
        edge = Edge(tail, head, fields)
        self._edges.append(edge)
        return edge

    def build(self) -> Document[Any]:
        """Return the instance.

        Raises
        ------
        InputError
            If a field is unknown, missing or wrong, or the graph is not of the system's kind.
        """
        graph = Graph(tuple(self._nodes), tuple(self._edges))
        assert self._system.from_graph is not None, "checked when the builder was made"
        try:
            made = self._system.from_graph(graph)
        except InputError as error:
            raise InputError(f"{self._system.name}: {error}") from None
        twice = sorted(set(made) & set(self._fields))
        if twice:
            raise InputError(f"{self._system.name}: {', '.join(twice)}: given beside the graph")
        return instance_of(self._system, {**made, **self._fields}, self._name, self._like)
