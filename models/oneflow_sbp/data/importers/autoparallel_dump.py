"""A problem of PyTorch's AutoParallel as JSON: what `docs/autoparallel_dump.py` writes.

Nodes have strategies, which place their output and each input on a mesh: `S(0)R` is split along
axis 0 over the first dimension of the mesh, and a copy on each device along the second. Edges have
tables: a row for each strategy of the producer, a cost for each of the node, null where the two do
not go together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from gadgetopt.errors import InputError
from gadgetopt.system.data import Data, NonNegativeInt, PositiveInt
from gadgetopt.system.files import validate
from gadgetopt.system.reading import read_json_object

from ...instance import MOST_BYTES, Cost, EdgeTable
from ...labels import BROADCAST, PARTIAL, Label, split

#: The name and the version of the format.
FORMAT = "autoparallel/1"
_PART = re.compile(r"S\((\d{1,2})\)|(R)|P(?:\(\w+\))?")

Bytes = Annotated[int, Field(ge=0, le=MOST_BYTES)]


class Strategy(Data):
    """How a node's output and its inputs are placed, what it takes, and what a device keeps."""

    output: str
    inputs: tuple[str, ...] = ()
    compute_us: Cost
    memory_bytes: Bytes = 0


class Node(Data):
    """A node of the program; its inputs are nodes listed before."""

    name: Annotated[str, Field(min_length=1)]
    op: str = ""
    inputs: tuple[str, ...] = ()
    strategies: Annotated[tuple[Strategy, ...], Field(min_length=1)]


class Edge(Data):
    """The table of an input."""

    node: str
    arg: NonNegativeInt
    cost_us: EdgeTable


class Memory(Data):
    """The limit of what all nodes keep on a device."""

    limit_bytes: Annotated[int, Field(gt=0, le=10**15)]


class Dump(Data):
    """A problem: clusters are nodes that share a choice, ties pairs with equal outputs.

    `pins` are the outputs that nodes must have.
    """

    format: Literal["autoparallel/1"]
    mesh_shape: Annotated[tuple[PositiveInt, ...], Field(min_length=1)]
    nodes: Annotated[tuple[Node, ...], Field(min_length=1)]
    edges: tuple[Edge, ...] = ()
    clusters: tuple[tuple[str, ...], ...] = ()
    ties: tuple[tuple[str, str], ...] = ()
    pins: dict[str, str] = Field(default_factory=dict)
    memory: Memory | None = None


def read_dump(path: Path) -> tuple[Dump, str]:
    """Read a dump; return it and the SHA-256 of its bytes.

    Raises
    ------
    InputError
        If the file is none, or what it says does not fit together.
    """
    values, sha256 = read_json_object(path, f"the keys of {FORMAT}")
    dump: Dump = validate(Dump, values, str(path), "")
    for problem in _problems(dump):
        raise InputError(f"{path}: {problem}")
    return dump, sha256


def label_of(text: str, levels: int) -> Label:
    """Return the label of placements such as S(0)R.

    Raises
    ------
    ValueError
        If there is not one for each dimension of the mesh.
    """
    found = list(_PART.finditer(text))
    if "".join(match[0] for match in found) != text or len(found) != levels:
        example = "'S(0)'" if levels == 1 else "'S(0)R'"
        raise ValueError(
            f"{text!r}, expected S(i), R or P for each dimension of the mesh, such as {example}"
        )
    return tuple(
        split(int(match[1])) if match[1] else BROADCAST if match[2] else PARTIAL for match in found
    )


def _problems(dump: Dump) -> Iterator[str]:
    """Yield what does not fit together."""
    if len(dump.mesh_shape) > 2:
        yield f"mesh_shape: {len(dump.mesh_shape)} dimensions, expected 1 or 2"
    known: dict[str, Node] = {}
    for n, node in enumerate(dump.nodes):
        where = f"nodes[{n}]"
        if node.name in known:
            yield f"{where}.name: {node.name!r} occurs twice"
        for a, name in enumerate(node.inputs):
            if name not in known:
                yield f"{where}.inputs[{a}]: {name!r} is not a node listed before"
        for k, strategy in enumerate(node.strategies):
            yield from _problems_of_strategy(node, strategy, dump, f"{where}.strategies[{k}]")
        known[node.name] = node
    yield from _problems_of_edges(dump, known)
    named = [(f"clusters[{c}]", x) for c, group in enumerate(dump.clusters) for x in group]
    named += [(f"ties[{t}]", x) for t, pair in enumerate(dump.ties) for x in pair]
    named += [("pins", x) for x in dump.pins]
    for where, name in named:
        if name not in known:
            yield f"{where}: {name!r} is not a node"
    for name, text in dump.pins.items():
        yield from _problem_of_placements(text, dump, f"pins.{name}")
        if text not in (strategy.output for strategy in known[name].strategies):
            yield f"pins.{name}: {text!r}, expected the output of one of its strategies"


def _problems_of_strategy(node: Node, given: Strategy, dump: Dump, where: str) -> Iterator[str]:
    if len(given.inputs) != len(node.inputs):
        yield (
            f"{where}.inputs: {len(given.inputs)} placements, expected {len(node.inputs)}, one for "
            f"each input of {node.name}"
        )
    yield from _problem_of_placements(given.output, dump, f"{where}.output")
    for a, text in enumerate(given.inputs):
        yield from _problem_of_placements(text, dump, f"{where}.inputs[{a}]")


def _problem_of_placements(text: str, dump: Dump, where: str) -> Iterator[str]:
    try:
        label_of(text, len(dump.mesh_shape))
    except ValueError as error:
        yield f"{where}: {error}"


def _problems_of_edges(dump: Dump, known: dict[str, Node]) -> Iterator[str]:
    """Yield edges whose tables are no tables of an input, and inputs without one."""
    seen: set[tuple[str, int]] = set()
    for e, edge in enumerate(dump.edges):
        where, node = f"edges[{e}]", known.get(edge.node)
        if node is None:
            yield f"{where}.node: {edge.node!r} is not a node"
            return
        if edge.arg >= len(node.inputs):
            yield f"{where}.arg: {edge.arg}, but {node.name} has {len(node.inputs)} inputs"
        if (edge.node, edge.arg) in seen:
            yield f"{where}: a second table of input {edge.arg} of {node.name}"
        seen.add((edge.node, edge.arg))
        producer = known[node.inputs[edge.arg]]
        sizes: list[tuple[str, Any, str, Node]] = [("", edge.cost_us, "rows", producer)]
        sizes += [(f"[{r}]", row, "costs", node) for r, row in enumerate(edge.cost_us)]
        for place, line, what, end in sizes:
            if len(line) != len(end.strategies):
                yield (
                    f"{where}.cost_us{place}: {len(line)} {what}, expected {len(end.strategies)}, "
                    f"one for each strategy of {end.name}"
                )
    for node in dump.nodes:
        for a in range(len(node.inputs)):
            if (node.name, a) not in seen:
                yield f"edges: none for input {a} of {node.name}"
