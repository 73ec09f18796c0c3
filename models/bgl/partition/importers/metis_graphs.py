"""Graph files of METIS: a header, then the neighbours of every node in a line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.pieces.traces import ImportOutcome

from ..instance import MOST_NODES
from .edge_lists import imported, some
from .reading import GraphOptions, Read, lines_of, node_of, options_of


class MetisGraphOptions(GraphOptions):
    """Options of `metis_graph`."""


def metis_graph(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """Make an instance of each graph file of METIS, plain or gzip.

    The first line that is no comment (%) has the numbers of nodes and edges, and perhaps a format
    and a number of node weights; line v after it the neighbours of node v, counted from 1. Sizes
    and weights of nodes and edges are left out.

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
        If a file or an option cannot be used.
    """
    given = options_of(MetisGraphOptions, options)
    return imported("metis-graph", [(read_metis(p), given) for p in some(files)], rng)


def read_metis(path: Path) -> Read:
    """Return the edges of a file; each is there from both its ends."""
    lines, sha256 = lines_of(path)
    numbered = [(k, line) for k, line in enumerate(lines, start=1) if not line.startswith("%")]
    header = [node_of(cell) for cell in (numbered[0][1].split() if numbered else [])]
    if len(header) < 2 or None in header:
        raise InputError(f"{path}: no header, expected the numbers of nodes and edges")
    nodes, edges = header[0] or 0, header[1] or 0
    if not 1 <= nodes <= MOST_NODES:
        raise InputError(f"{path}: {nodes} nodes, expected 1 to {MOST_NODES}")
    kind = f"{header[2] if len(header) > 2 else 0:03d}"
    weights = (header[3] or 0) if len(header) > 3 else 1
    skipped = int(kind[-3] == "1") + (weights if kind[-2] == "1" else 0)
    step = 2 if kind[-1] == "1" else 1
    body = numbered[1 : nodes + 1]
    if len(body) < nodes:
        raise InputError(f"{path}: {len(body)} lines of neighbours for {nodes} nodes")
    read = Read(path, sha256, nodes=list(range(nodes)))
    for v, (number, line) in enumerate(body):
        read.lines_read += 1
        cells = [node_of(cell) for cell in line.split()][skipped::step]
        bad = [u for u in cells if u is None or not 1 <= u <= nodes]
        if bad:
            read.reject(number, line.strip(), f"nodes 1 to {nodes}")
        for u in cells:
            if u is not None and 1 <= u <= nodes:
                read.add(v, u - 1)
    # Every edge is there twice, once from each end.
    read.repeated = max(0, read.repeated - len(read.edges))
    if len(read.edges) + read.loops != edges:
        read.rejected.append(
            {
                "file": path.name,
                "line": numbered[0][0],
                "reason": f"{edges} edges announced, {len(read.edges)} found",
            }
        )
    return read
