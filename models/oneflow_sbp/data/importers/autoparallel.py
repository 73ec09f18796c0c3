"""Instances from problems of PyTorch's AutoParallel, dumped as plain JSON.

AutoParallel chooses a strategy for every node of a traced program: how its inputs and its output
are placed on a mesh. A pair of strategies of a producer and a consumer costs what it takes to bring
one placement into the other. That is this problem: strategies are signatures, and costs are tables
of pairs. What AutoParallel itself saves is a pickle, which runs code, and is not read.

Nodes of a cluster, copies in repeated layers, share their choice in AutoParallel, and so do the
nodes that their inputs are from. Here such a node gets one input more, from the first of its likes,
whose table allows equal strategies only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import networkx as nx
import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.pieces.file_imports import errors_of
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.system.declaring import importer

from ...instance import (
    Costs,
    EdgeTable,
    ListedSignature,
    OneFlowSbpInstance,
    Operator,
    Placement,
)
from ...labels import label_text, splits
from .autoparallel_dump import Dump, label_of, read_dump

#: Costs of a dump are microseconds. By definition.
_US_PER_S = 10**6


@importer(
    name="autoparallel",
    help={"clusters": "false: copies in repeated layers may differ"},
)
def read_autoparallel(
    files: Sequence[Path], rng: np.random.Generator, *, clusters: bool = True
) -> ImportOutcome:
    """Problems of PyTorch's AutoParallel, dumped as JSON: strategies and tables of costs.

    Parameters
    ----------
    files : sequence of Path
    rng : numpy.random.Generator
        Not used: nothing is drawn.
    clusters : bool
        True if the nodes of a cluster have equal strategies, as in AutoParallel.

    Raises
    ------
    InputError
        If a file is no such dump, in one line.
    """
    if not files:
        raise InputError("files: none given, expected at least one of docs/autoparallel_dump.py")
    instances, details, sources = [], [], []
    for path in map(Path, files):
        dump, sha256 = read_dump(path)
        with errors_of(path):
            first = _first_alike(dump) if clusters else {}
            instance = _instance(dump, first)
        instances.append((path.stem, instance))
        sources.append({"name": path.name, "sha256": sha256})
        details.append(
            {
                "name": path.stem,
                "nodes": len(dump.nodes),
                "edges": len(dump.edges),
                "tables": len(instance.edge_tables),
                "nodes_like_another": len(first),
            }
        )
    origin = {"format": "autoparallel", "files": sources, "options": {"clusters": clusters}}
    return ImportOutcome(list(instances), {"instances": details}, origin)


def _instance(dump: Dump, first: dict[int, int]) -> OneFlowSbpInstance:
    """Return the instance of a dump; `first` gives nodes the one whose strategy they have."""
    number = {node.name: n for n, node in enumerate(dump.nodes)}
    shapes = _shapes(dump, number)
    given = {(edge.node, edge.arg): edge.cost_us for edge in dump.edges}
    #: Numbers of tables: equal ones are kept once.
    tables: dict[EdgeTable, int] = {}
    operators = []
    for n, node in enumerate(dump.nodes):
        used = [_seconds(given[node.name, a]) for a in range(len(node.inputs))]
        inputs = node.inputs
        if n in first:
            used.append(_equal(len(node.strategies)))
            inputs = (*inputs, dump.nodes[first[n]].name)
        operators.append(
            Operator(
                name=node.name,
                kind="custom",
                inputs=inputs,
                shape=shapes[n],
                placement="mesh",
                signatures=tuple(_signatures(dump, n, first.get(n))),
                input_tables=tuple(tables.setdefault(table, len(tables)) for table in used),
            )
        )
    return OneFlowSbpInstance(
        placements=(Placement(name="mesh", hierarchy=dump.mesh_shape),),
        operators=tuple(operators),
        costs=Costs(unit="seconds"),
        memory_limit_bytes=None if dump.memory is None else dump.memory.limit_bytes,
        pins={name: _label(text, dump) for name, text in dump.pins.items()},
        ties=dump.ties,
        edge_tables=tuple(tables),
    )


def _signatures(dump: Dump, n: int, first: int | None) -> Iterator[ListedSignature]:
    """Yield a node's strategies; an input more has the strategy of the first of its likes."""
    for k, strategy in enumerate(dump.nodes[n].strategies):
        inputs = strategy.inputs
        if first is not None:
            inputs = (*inputs, dump.nodes[first].strategies[k].output)
        yield ListedSignature(
            inputs=tuple(_label(text, dump) for text in inputs),
            output=_label(strategy.output, dump),
            compute=strategy.compute_us / _US_PER_S,
            memory_bytes=strategy.memory_bytes,
        )


def _label(text: str, dump: Dump) -> str:
    return label_text(label_of(text, len(dump.mesh_shape)))


def _shapes(dump: Dump, number: dict[str, int]) -> list[tuple[int, ...]]:
    """Return extents that all labels divide: a dump has none, and nothing is priced by them."""
    slices: list[Counter[int]] = [Counter() for _ in dump.nodes]
    for n, node in enumerate(dump.nodes):
        for strategy in node.strategies:
            tensors = zip(
                [n, *(number[name] for name in node.inputs)],
                [strategy.output, *strategy.inputs],
                strict=True,
            )
            for o, text in tensors:
                slices[o] |= splits(label_of(text, len(dump.mesh_shape)), dump.mesh_shape)
    return [tuple(cut[axis] or 1 for axis in range(max(cut, default=-1) + 1)) for cut in slices]


def _first_alike(dump: Dump) -> dict[int, int]:
    """Return for each node that shares its choice the first node that does.

    Raises
    ------
    InputError
        If nodes that share a choice have not equally many strategies.
    """
    number = {node.name: n for n, node in enumerate(dump.nodes)}
    graph: nx.Graph[int] = nx.Graph()
    for group in dump.clusters:
        for name in group[1:]:
            leader, other = (dump.nodes[number[x]] for x in (group[0], name))
            pairs = [(leader.name, name), *zip(leader.inputs, other.inputs, strict=False)]
            graph.add_edges_from((number[a], number[b]) for a, b in pairs if a != b)
    first: dict[int, int] = {}
    for part in nx.connected_components(graph):
        least, *rest = sorted(part)
        for n in rest:
            sizes = [len(dump.nodes[o].strategies) for o in (n, least)]
            if sizes[0] != sizes[1]:
                raise InputError(
                    f"clusters: {dump.nodes[n].name} has {sizes[0]} strategies, expected "
                    f"{sizes[1]} as {dump.nodes[least].name}, with which it shares its choice"
                )
            first[n] = least
    return first


def _seconds(costs: EdgeTable) -> EdgeTable:
    return tuple(tuple(None if c is None else c / _US_PER_S for c in row) for row in costs)


def _equal(strategies: int) -> EdgeTable:
    """Return a table that allows equal strategies only."""
    every = range(strategies)
    return tuple(tuple(Fraction(0) if k == j else None for j in every) for k in every)
