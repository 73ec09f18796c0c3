"""A network that is built node by node as the fields of an instance."""

from __future__ import annotations

from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.pieces.graphs.building import Graph

#: What nodes hold data, and what only forward it.
KINDS = ("worker", "switch")
#: Limits of a node, under the names of the instance's fields.
NICS = ("nic_in_gbyte_per_s", "nic_out_gbyte_per_s")


def fields_of(graph: Graph) -> dict[str, Any]:
    """Return workers, switches, links and limits of nodes.

    A node is a `kind`, "worker" (default) or "switch", and may have `nic_in_gbyte_per_s` and
    `nic_out_gbyte_per_s`; an edge has `bandwidth_gbyte_per_s`, and `both` if it is a cable.
    """
    graph.check_fields(("kind", *NICS), ("bandwidth_gbyte_per_s", "both"))
    of_kind: dict[str, list[int]] = {kind: [] for kind in KINDS}
    for node in graph.nodes:
        kind = node.fields.get("kind", KINDS[0])
        if kind not in of_kind:
            raise InputError(f"{node}: kind: {kind!r} is not one of {', '.join(KINDS)}")
        of_kind[kind].append(node.number)
    links = [
        {"src": edge.tail.number, "dst": edge.head.number, **edge.fields} for edge in graph.edges
    ]
    limits = {
        nic: {str(n.number): n.fields[nic] for n in graph.nodes if nic in n.fields} for nic in NICS
    }
    return {
        "workers": of_kind["worker"],
        "switches": of_kind["switch"],
        "links": links,
        **{nic: given for nic, given in limits.items() if given},
    }
