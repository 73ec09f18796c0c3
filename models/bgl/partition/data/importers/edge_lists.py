"""Edge lists: two node numbers a line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.system.data import Instance
from gadgetopt.system.declaring import importer

from ...instance import MOST_NODES
from .matrix_market import (
    is_matrix_market,
    read_matrix_market,
)
from .reading import (
    GraphOptions,
    Read,
    instance_of,
    lines_of,
    node_of,
    options_of,
)

#: A line of an edge list: further columns, such as weights, are not read.
_SEPARATOR = re.compile(r"[\s,;]+")
#: The first line of a bipartite network of KONECT.
_BIPARTITE = re.compile(r"%\s*bip\b")


class EdgeListOptions(GraphOptions):
    """Options of `edge_list`; `directed`: the first node of a line samples the second."""

    directed: bool = False


class OgbCsvOptions(EdgeListOptions):
    """Options of `ogb_csv`."""


_HELP = {
    "train_share": "share of the nodes that are drawn as training nodes, without a train_file",
    "weights": "requests or edge",
}


@importer(
    name="edge-list",
    options=EdgeListOptions,
    help={
        **_HELP,
        "train_file": "training nodes, one number a line, plain or gzip",
        "directed": "true: the first node of a line samples the second",
    },
)
def edge_list(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """Two node numbers a line, plain or gzip; SNAP's and KONECT's files, Matrix Market.

    Lines that begin with # or % are comments, as in SNAP's files; columns are separated by blanks,
    tabs, commas or semicolons, and those after the second are not read. A square sparse matrix of
    the Matrix Market is read by its header: its rows are the nodes. Loops and repeated edges
    are left out and counted. Nodes are those that have an edge, renumbered in ascending order.

    Parameters
    ----------
    files : sequence of Path
    rng : numpy.random.Generator
        Draws the training nodes.
    **options
        The fields of `EdgeListOptions`.

    Raises
    ------
    InputError
        If a file or an option cannot be used.
    """
    given = options_of(EdgeListOptions, options)
    jobs = [(read_edges(path, given.directed), given) for path in some(files)]
    return imported("edge-list", jobs, rng)


@importer(
    name="ogb-csv",
    summary="raw/edge.csv.gz of the Open Graph Benchmark, with the folders around it",
    options=OgbCsvOptions,
    help={**_HELP, "train_file": "else train.csv.gz of the folder split, if there is one"},
)
def ogb_csv(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """Make an instance of each dataset folder of the Open Graph Benchmark, or its edge.csv.gz.

    `raw/edge.csv.gz` has the edges, `raw/num-node-list.csv.gz` the number of nodes if it is there,
    and `split/*/train.csv.gz` the training nodes, unless `train_file` names others.

    Parameters
    ----------
    files : sequence of Path
        Folders, or files named edge.csv or edge.csv.gz.
    rng, **options
        As of `edge_list`.

    Raises
    ------
    InputError
        If a file or an option cannot be used.
    """
    given = options_of(OgbCsvOptions, options)
    jobs: list[tuple[Read, GraphOptions]] = []
    for path in some(files):
        edges = _ogb_edges(path)
        read = read_edges(edges, given.directed)
        raw = edges.parent
        for name in ("num-node-list.csv.gz", "num-node-list.csv"):
            if (raw / name).is_file():
                count = node_of("".join(lines_of(raw / name)[0][:1]))
                most = max((max(e) for e in read.edges), default=0)
                if count is None or count <= most:
                    raise InputError(f"{raw / name}: expected a number of nodes above {most}")
                if count > MOST_NODES:
                    raise InputError(f"{raw / name}: {count} nodes, expected at most {MOST_NODES}")
                read.nodes = list(range(count))
        splits = sorted(raw.parent.glob("split/*/train.csv*"))
        own = given
        if not given.train_file and splits:
            own = given.model_copy(update={"train_file": str(splits[0])})
        jobs.append((read, own))
    return imported("ogb-csv", jobs, rng)


def read_edges(path: Path, directed: bool) -> Read:
    """Return the edges of a file, which may be a sparse matrix of the Matrix Market.

    Raises
    ------
    InputError
        If it cannot be read, or is a bipartite network.
    """
    lines, sha256 = lines_of(path)
    if is_matrix_market(lines):
        return read_matrix_market(path, sha256, lines, directed)
    if lines and _BIPARTITE.match(lines[0]):
        raise InputError(
            f"{path}: line 1: a bipartite network of KONECT, whose two sides are both numbered "
            "from 1, expected one set of nodes (sym or asym)"
        )
    read = Read(path, sha256, directed)
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text[0] in "#%":
            continue
        read.lines_read += 1
        cells = _SEPARATOR.split(text)
        ends = [node_of(cell) for cell in cells[:2]]
        u, v = ends if len(ends) == 2 else (None, None)
        if u is None or v is None:
            read.reject(number, text, "expected two node numbers")
        else:
            read.add(u, v)
    return read


def _ogb_edges(path: Path) -> Path:
    if not path.is_dir():
        return path
    found = [p for n in ("edge.csv.gz", "edge.csv") for p in (path / "raw" / n, path / n)]
    for candidate in found:
        if candidate.is_file():
            return candidate
    raise InputError(f"{path}: no raw/edge.csv.gz in this folder")


def some(files: Sequence[Path]) -> list[Path]:
    """Return the files; refuse none."""
    if not files:
        raise InputError("files: none given, expected at least one")
    return [Path(path) for path in files]


def imported(
    form: str, jobs: Sequence[tuple[Read, GraphOptions]], rng: np.random.Generator
) -> ImportOutcome:
    """Return the instances of files that were read."""
    instances: list[tuple[str, Instance]] = []
    details, sources = [], []
    for read, options in jobs:
        instance = instance_of(read, options, rng)
        name = f"{_stem(read.path)}_{instance.num_nodes}x{instance.num_parts}"
        instances.append((name, instance))
        details.append(read.report(name))
        sources.append({"name": read.path.name, "sha256": read.sha256})
    return ImportOutcome(
        instances,
        {"instances": details},
        {"format": form, "files": sources, "options": jobs[0][1].model_dump()},
    )


def _stem(path: Path) -> str:
    return path.name.split(".")[0] or "graph"
