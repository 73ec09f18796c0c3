"""Nodes of a Chakra execution trace, as bytes and back.

A file holds messages, each after its length: first the metadata, then the nodes, each after those
that it waits for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gadgetopt.errors import InputError
from gadgetopt.pieces.formats.chakra import wire

#: Version of the schema that is written. By definition.
VERSION = "0.0.4"

#: Types of nodes in the schema. By definition.
COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
#: The type of a collective that is an AllReduce, in the schema. By definition.
ALL_REDUCE = 0

#: Fields of an attribute's value by what it holds, in the schema. By definition.
VALUE_FIELDS = {
    "is_cpu_op": 27,
    "num_ops": 9,
    "tensor_size": 13,
    "comm_type": 9,
    "comm_size": 9,
    "comm_src": 7,
    "comm_dst": 7,
    "comm_tag": 7,
}
#: The field of texts in the schema, which all other attributes are. By definition.
TEXT_FIELD = 29


@dataclass(frozen=True)
class Node:
    """One node of a trace.

    Attributes
    ----------
    number : int
    name : str
    kind : int
        `COMPUTE`, `SEND`, `RECEIVE` or `COLLECTIVE`.
    after : tuple of int
        Nodes that have to end before.
    micros : int
        Duration in microseconds.
    attributes : mapping
    """

    number: int
    name: str
    kind: int
    after: tuple[int, ...] = ()
    micros: int = 0
    attributes: Mapping[str, int | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Trace:
    """A device's trace: attributes of the whole, and nodes."""

    about: Mapping[str, str]
    nodes: tuple[Node, ...]


def encode(trace: Trace) -> bytes:
    """Return a trace as the bytes of a file."""
    head = wire.field(1, VERSION)
    head += b"".join(_attribute(2, name, value) for name, value in trace.about.items())
    return wire.delimited(head) + b"".join(wire.delimited(_node(node)) for node in trace.nodes)


def _node(node: Node) -> bytes:
    message = wire.field(1, node.number) + wire.field(2, node.name) + wire.field(3, node.kind)
    if node.after:
        message += wire.field(5, b"".join(map(wire.varint, node.after)))
    if node.micros:
        message += wire.field(7, node.micros)
    attributes = {"is_cpu_op": 0, **node.attributes}
    return message + b"".join(_attribute(10, name, value) for name, value in attributes.items())


def _attribute(number: int, name: str, value: int | str) -> bytes:
    return wire.field(
        number, wire.field(1, name) + wire.field(VALUE_FIELDS.get(name, TEXT_FIELD), value)
    )


def decode(data: bytes) -> Trace:
    """Return the trace of the bytes of a file.

    Raises
    ------
    InputError
        If it is none.
    """
    messages, at = [], 0
    while at < len(data):
        message, at = wire.read_delimited(data, at)
        messages.append(message)
    if not messages:
        raise InputError("is empty, expected the metadata and nodes of a trace")
    about = dict(_read_attribute(v) for n, v in wire.read_fields(messages[0]) if n == 2)
    nodes = tuple(map(_read_node, messages[1:]))
    known: set[int] = set()
    for node in nodes:
        if node.number in known:
            raise InputError(f"node {node.number}: is there twice")
        if not known.issuperset(node.after):
            raise InputError(f"node {node.number}: waits for a node that is not before it")
        known.add(node.number)
    return Trace({name: str(value) for name, value in about.items()}, nodes)


def _read_node(message: bytes) -> Node:
    numbers = {1: 0, 3: 0, 7: 0}
    name, after, attributes = "", list[int](), {}
    for number, value in wire.read_fields(message):
        if number in numbers and isinstance(value, int):
            numbers[number] = value
        elif number == 2 and isinstance(value, bytes):
            name = _text(value)
        elif number in (4, 5):
            after += _packed(value)
        elif number == 10:
            key, given = _read_attribute(value)
            attributes[key] = given
    return Node(numbers[1], name, numbers[3], tuple(after), numbers[7], attributes)


def _packed(value: int | bytes) -> list[int]:
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = wire.read_varint(value, at)
        found.append(number)
    return found


def _read_attribute(value: int | bytes) -> tuple[str, int | str]:
    if isinstance(value, int):
        raise InputError("an attribute is a number, expected a message")
    name = ""
    content: int | str = 0
    for number, given in wire.read_fields(value):
        if number == 1 and isinstance(given, bytes):
            name = _text(given)
        elif number == TEXT_FIELD and isinstance(given, bytes):
            content = _text(given)
        elif isinstance(given, int):
            content = given
    return name, content


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise InputError("a text that is not UTF-8") from None


# -- sends and receives ------------------------------------------------------------------------


def unmatched(traces: Sequence[Trace]) -> str | None:
    """Return what is wrong with the sends and receives of traces: each send has its receive."""
    ends: dict[int, dict[tuple[int | str, ...], int]] = {SEND: {}, RECEIVE: {}}
    for rank, trace in enumerate(traces):
        for node in trace.nodes:
            if node.kind not in ends:
                continue
            names = ("comm_src", "comm_dst", "comm_tag", "comm_size")
            key = tuple(node.attributes.get(name, -1) for name in names)
            if key[node.kind == RECEIVE] != rank:
                return f"rank {rank}, node {node.number}: is an end of another rank"
            if key in ends[node.kind]:
                return f"rank {rank}, node {node.number}: its tag is there twice"
            ends[node.kind][key] = node.number
    for kind, word in ((SEND, "sent and not received"), (RECEIVE, "received and not sent")):
        alone = ends[kind].keys() - ends[SEND + RECEIVE - kind].keys()
        if alone:
            source, target, tag, size = min(alone, key=str)
            return f"from {source} to {target}, tag {tag}, {size} bytes: is {word}"
    return None
