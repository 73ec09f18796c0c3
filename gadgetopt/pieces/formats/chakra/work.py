"""The nodes of devices that do one thing after another, with transfers between them.

A computation waits for the one before it on its device and for what it receives; what it sends
waits for it. Nothing orders the transfers of a device: each begins when it can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from gadgetopt.errors import InputError
from gadgetopt.pieces.formats.chakra.traces import (
    ALL_REDUCE,
    COLLECTIVE,
    COMPUTE,
    RECEIVE,
    SEND,
    Node,
    Trace,
)

#: Microseconds of a second. By definition.
MICROS = 10**6


@dataclass(frozen=True)
class Transfer:
    """Bytes from a rank to another; the tag is its own between the two."""

    name: str
    source: int
    target: int
    tag: int
    num_bytes: int


@dataclass(frozen=True)
class Work:
    """A computation, or an AllReduce among the ranks of a group.

    Attributes
    ----------
    name : str
    micros : int
    receives, sends : tuple of Transfer
    group : str
        The group of an AllReduce; empty for a computation.
    num_bytes : int
        Of an AllReduce.
    """

    name: str
    micros: int
    receives: tuple[Transfer, ...] = ()
    sends: tuple[Transfer, ...] = ()
    group: str = ""
    num_bytes: int = 0


def whole_micros(seconds: Fraction, what: str) -> int:
    """Return a duration in whole microseconds, rounded to the nearest.

    Raises
    ------
    InputError
        If something that takes time would take none.
    """
    micros = round(seconds * MICROS)
    if seconds and not micros:
        raise InputError(
            f"chakra: {what} takes {float(seconds):g} s, less than half of the microsecond that "
            "traces count in; write times of larger microbatches"
        )
    return micros


def trace_of(work: Sequence[Work], about: Mapping[str, str]) -> Trace:
    """Return the trace of a rank that does one thing after another."""
    nodes: list[Node] = []
    before: tuple[int, ...] = ()
    for item in work:
        ends = [_add(nodes, _transfer(RECEIVE, one)) for one in item.receives]
        node = _allreduce(item) if item.group else _computation(item)
        own = _add(nodes, replace(node, after=(*before, *ends)))
        for one in item.sends:
            _add(nodes, replace(_transfer(SEND, one), after=(own,)))
        before = (own,)
    return Trace(about, tuple(nodes))


def _add(nodes: list[Node], node: Node) -> int:
    """Add a node with the next number; return it."""
    nodes.append(replace(node, number=len(nodes)))
    return len(nodes) - 1


def _computation(item: Work) -> Node:
    said = {"num_ops": 1, "tensor_size": 1}
    return Node(0, item.name, COMPUTE, micros=item.micros, attributes=said)


def _allreduce(item: Work) -> Node:
    said: dict[str, int | str] = {
        "comm_type": ALL_REDUCE,
        "comm_size": item.num_bytes,
        "pg_name": item.group,
    }
    return Node(0, item.name, COLLECTIVE, attributes=said)


def _transfer(kind: int, one: Transfer) -> Node:
    said = {
        "comm_src": one.source,
        "comm_dst": one.target,
        "comm_tag": one.tag,
        "comm_size": one.num_bytes,
    }
    return Node(0, f"{'send' if kind == SEND else 'receive'} {one.name}", kind, attributes=said)


def first_difference(found: Sequence[Trace], expected: Sequence[Trace]) -> str | None:
    """Return where traces differ from those that are expected, None if they do not."""
    for rank, (one, other) in enumerate(zip(found, expected, strict=True)):
        if one.about != other.about:
            return f"rank {rank}: its metadata are {dict(one.about)}, expected {dict(other.about)}"
        for a, b in zip(one.nodes, other.nodes, strict=False):
            if (a.name, a.kind, a.after, a.micros) != (b.name, b.kind, b.after, b.micros):
                return f"rank {rank}, node {a.number}: {a.name!r}, expected {b.name!r} as written"
            if {**a.attributes, "is_cpu_op": 0} != {**b.attributes, "is_cpu_op": 0}:
                return f"rank {rank}, node {a.number}: {a.name!r}: has other attributes"
        if len(one.nodes) != len(other.nodes):
            return f"rank {rank}: {len(one.nodes)} nodes, expected {len(other.nodes)}"
    return None
