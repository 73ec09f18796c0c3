"""Graph files of METIS: a header, then the neighbours of every node in a line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.system.declaring import importer

from ...instance import MOST_NODES
from .edge_lists import (
    imported,
    some,
)
from .matrix_market import is_matrix_market
from .reading import (
    GraphOptions,
    Read,
    lines_of,
    node_of,
    options_of,
)


class MetisGraphOptions(GraphOptions):
    """Options of `metis_graph`."""


@importer(
    name="metis-graph",
    options=MetisGraphOptions,
    help={
        "train_share": "share of the nodes that are drawn as training nodes, without a train_file",
        "train_file": "training nodes, one number a line, plain or gzip",
        "weights": "requests or edge",
    },
)
def metis_graph(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """Graph files of METIS; their weights are left out.

    Make an instance of each graph file of METIS, plain or gzip.

    The first line that is no comment (%) has the numbers of nodes and edges, and perhaps a format
    and a number of node weights; line v after it the neighbours of node v, counted from 1, each
    edge at both its ends. Sizes and weights of nodes and edges are left out, loops and repeated
    edges too.

    Parameters
    ----------
    files : sequence of Path
    rng : numpy.random.Generator
        Draws the training nodes.
    **options
        The fields of `MetisGraphOptions`; graphs are undirected.

    Raises
    ------
    InputError
        If a file or an option cannot be used, or a line is not as the format wants it.
    """
    given = options_of(MetisGraphOptions, options)
    return imported("metis-graph", [(read_metis(p), given) for p in some(files)], rng)


@dataclass(frozen=True)
class _Header:
    """What the first line says: nodes, edges, numbers before the neighbours, numbers of each."""

    line: int
    nodes: int
    edges: int
    before: int
    step: int


def read_metis(path: Path) -> Read:
    """Return the edges of a file; each is there from both its ends.

    Raises
    ------
    InputError
        With the line, if it is not as the format wants it.
    """
    lines, sha256 = lines_of(path)
    if is_matrix_market(lines):
        raise InputError(f"{path}: line 1: a Matrix Market file, import it as edge-list")
    numbered = [
        (number, line)
        for number, line in enumerate(lines, start=1)
        if not line.lstrip().startswith("%")
    ]
    first = next((k for k, (_, line) in enumerate(numbered) if line.strip()), len(numbered))
    header = _header(path, numbered[first : first + 1])
    body = numbered[first + 1 : first + 1 + header.nodes]
    if len(body) < header.nodes:
        raise InputError(f"{path}: {len(body)} lines of neighbours for {header.nodes} nodes")
    for number, line in numbered[first + 1 + header.nodes :]:
        if line.strip():
            raise InputError(
                f"{path}: line {number}: {line.strip()[:40]!r} after the neighbours of all "
                f"{header.nodes} nodes"
            )
    read = Read(path, sha256, nodes=list(range(header.nodes)))
    near: list[list[int]] = []
    for v, (number, line) in enumerate(body):
        read.lines_read += 1
        listed = _neighbours(path, number, line, header)
        near.append([u for u in listed if u != v])
        read.loops += len(listed) - len(near[v])
    _check_ends(path, near, [number for number, _ in body])
    read.edges = dict.fromkeys((v, u) for v, own in enumerate(near) for u in own if v < u)
    read.repeated = _repeated(near)
    _compare_with_announced(read, header, numbered[first][1])
    return read


def _header(path: Path, numbered: list[tuple[int, str]]) -> _Header:
    """Read the numbers of nodes and edges, the format and the number of node weights."""
    line, text = numbered[0] if numbered else (1, "")
    words = text.split()
    numbers = [node_of(word) for word in words]
    if not 2 <= len(words) <= 4 or None in numbers:
        raise InputError(
            f"{path}: line {line}: no header, expected the numbers of nodes and edges, and perhaps "
            "a format and a number of node weights"
        )
    nodes, edges = numbers[0] or 0, numbers[1] or 0
    if not 1 <= nodes <= MOST_NODES:
        raise InputError(f"{path}: line {line}: {nodes} nodes, expected 1 to {MOST_NODES}")
    form = words[2] if len(words) > 2 else "000"
    if not re.fullmatch("[01]{1,3}", form):
        raise InputError(
            f"{path}: line {line}: format {form!r}, expected up to three digits of 0 and 1"
        )
    sizes, weights, edge_weights = (digit == "1" for digit in form.zfill(3))
    stated = (numbers[3] or 0) if len(words) > 3 else 0
    if stated and not weights:
        raise InputError(
            f"{path}: line {line}: {stated} weights of nodes, but format {form!r} has none"
        )
    before = int(sizes) + (max(1, stated) if weights else 0)
    return _Header(line, nodes, edges, before, 2 if edge_weights else 1)


def _neighbours(path: Path, number: int, line: str, header: _Header) -> list[int]:
    """Return the neighbours in a line, counted from 0."""
    words = line.split()
    cells = words[header.before :]
    if len(words) < header.before or len(cells) % header.step:
        each = "a neighbour and its weight" if header.step == 2 else "neighbours"
        raise InputError(
            f"{path}: line {number}: {len(words)} numbers, expected {header.before} sizes or "
            f"weights of the node, then {each}"
        )
    neighbours = []
    for cell in cells[:: header.step]:
        u = node_of(cell)
        if u is None or not 1 <= u <= header.nodes:
            from_one = "; METIS counts nodes from 1" if u == 0 else ""
            raise InputError(
                f"{path}: line {number}: neighbour {cell[:40]!r}, expected 1 to "
                f"{header.nodes}{from_one}"
            )
        neighbours.append(u - 1)
    return neighbours


def _check_ends(path: Path, near: list[list[int]], numbers: list[int]) -> None:
    """Refuse an edge that only one of its ends lists."""
    sets = [set(own) for own in near]
    for v, own in enumerate(near):
        for u in own:
            if v not in sets[u]:
                raise InputError(
                    f"{path}: line {numbers[v]}: node {v + 1} lists node {u + 1}, but line "
                    f"{numbers[u]} does not list node {v + 1}, expected every edge at both ends"
                )


def _repeated(near: list[list[int]]) -> int:
    """Return how often edges are there again; one that both ends repeat is there once more."""
    times: dict[tuple[int, int], int] = {}
    for v, own in enumerate(near):
        if len(own) > len(set(own)):
            for u, n in Counter(own).items():
                pair = (v, u) if v < u else (u, v)
                times[pair] = max(n, times.get(pair, 1))
    return sum(n - 1 for n in times.values())


def _compare_with_announced(read: Read, header: _Header, text: str) -> None:
    """Note a header whose number of edges is not found, with or without what is left out."""
    found = len(read.edges)
    more = (0, read.loops, read.repeated, read.loops + read.repeated)
    if header.edges in [found + left_out for left_out in more]:
        return
    reason = f"{header.edges} edges announced, {found} found"
    if read.loops or read.repeated:
        reason += f" besides {read.loops} loops and {read.repeated} repeated ones"
    read.reject(header.line, text.strip(), reason)
