"""Lines of plain and compressed files, and the instance that is made of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.rejections import Rejection, by_reason, in_one_line
from gadgetopt.system.reading import decompressed, read_bytes

from ...instance import (
    MOST_NODES,
    MOST_PARTS,
    BglPartitionInstance,
)
from ..generate.presets import fanouts_of


class GraphOptions(BaseModel):
    """What a graph file does not say. Text, as a command line gives it, is converted.

    Attributes
    ----------
    num_parts : int
    train_share : float
        Share of the nodes that are drawn as training nodes, without a `train_file`.
    train_file : str
        Training nodes, one number a line.
    fanouts : str
        Separated by commas.
    node_imbalance, train_imbalance : float
    weights : "requests" or "edge"
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False
    )

    num_parts: int = Field(default=4, ge=2, le=MOST_PARTS)
    train_share: float = Field(default=0.1, gt=0, le=1)
    train_file: str = ""
    fanouts: str = "15,10,5"
    node_imbalance: float = Field(default=0.05, ge=0)
    train_imbalance: float = Field(default=0.05, ge=0)
    weights: Literal["requests", "edge"] = "requests"


AnyOptions = TypeVar("AnyOptions", bound=GraphOptions)


def options_of(kind: type[AnyOptions], given: Mapping[str, Any]) -> AnyOptions:
    """Return options of a kind.

    Raises
    ------
    InputError
        If one is unknown or has a wrong value.
    """
    try:
        return kind(**given)
    except ValidationError as error:
        detail = error.errors()[0]
        place = ".".join(map(str, detail["loc"]))
        raise InputError(f"{place}: {detail['input']!r}: {detail['msg']}") from error


@dataclass
class Read:
    """A file's edges, and an account of its lines.

    Attributes
    ----------
    edges : dict
        Pairs of nodes as the file numbers them, each once.
    nodes : list of int or None
        All nodes if the file says which there are, else None.
    """

    path: Path
    sha256: str
    directed: bool = False
    edges: dict[tuple[int, int], None] = field(default_factory=dict)
    nodes: list[int] | None = None
    lines_read: int = 0
    loops: int = 0
    repeated: int = 0
    rejected: list[Rejection] = field(default_factory=list)

    def add(self, u: int, v: int) -> None:
        """Add an edge unless it is a loop or there already."""
        pair = (u, v) if self.directed or u < v else (v, u)
        if u == v:
            self.loops += 1
        elif pair in self.edges:
            self.repeated += 1
        else:
            self.edges[pair] = None

    def reject(self, line: int, text: str, reason: str) -> None:
        """Note a line that cannot be read."""
        self.rejected.append(Rejection(self.path.name, line, reason, text))

    def report(self, name: str) -> dict[str, Any]:
        """Return the account of the lines."""
        return {
            "name": name,
            "lines_read": self.lines_read,
            "edges": len(self.edges),
            "loops_left_out": self.loops,
            "repeated_left_out": self.repeated,
            "rows_rejected": len(self.rejected),
            "rejected": by_reason(self.rejected),
        }


def lines_of(path: Path) -> tuple[list[str], str]:
    """Return the lines of a plain or gzip file, and the SHA-256 of its bytes.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    content = read_bytes(path)
    text = decompressed(path, content) if content[:2] == b"\x1f\x8b" else content
    try:
        return text.decode("utf-8-sig").splitlines(), hashlib.sha256(content).hexdigest()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text file (byte {error.start} is not UTF-8)") from error


def node_of(text: str) -> int | None:
    """Return a node's number, None if the text is none."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def instance_of(
    read: Read, options: GraphOptions, rng: np.random.Generator
) -> BglPartitionInstance:
    """Return the instance of a file's edges, nodes renumbered in ascending order.

    Raises
    ------
    InputError
        If the file has no edge, or an option cannot be used.
    """
    if not read.edges:
        raise InputError(
            f"{read.path}: no line is an edge of two different nodes "
            f"(loops: {read.loops}; rejected: {in_one_line(read.rejected)})"
        )
    nodes = read.nodes or sorted({v for edge in read.edges for v in edge})
    if len(nodes) > MOST_NODES:
        raise InputError(f"{read.path}: {len(nodes)} nodes, expected at most {MOST_NODES}")
    number = {v: i for i, v in enumerate(nodes)}
    trained = _trained(read, options, number, rng)
    return BglPartitionInstance(
        num_nodes=len(nodes),
        edges=tuple((number[u], number[v]) for u, v in read.edges),
        directed=read.directed,
        train_nodes=tuple(trained),
        num_parts=options.num_parts,
        node_imbalance=decimal_rational(options.node_imbalance),
        train_imbalance=decimal_rational(options.train_imbalance),
        fanouts=fanouts_of(options.fanouts),
        weights=options.weights,
    )


def _trained(
    read: Read, options: GraphOptions, number: dict[int, int], rng: np.random.Generator
) -> list[int]:
    if options.train_file:
        lines, _ = lines_of(Path(options.train_file))
        given = [node_of(line) for line in lines if line.strip() and not line.startswith("#")]
        unknown = [k for k, v in enumerate(given) if v is None or v not in number]
        if unknown or not given:
            raise InputError(
                f"{options.train_file}: "
                + (f"entry {unknown[0] + 1} is no node of {read.path.name}" if given else "empty")
            )
        return sorted({number[v] for v in given if v is not None})
    count = max(1, round(options.train_share * len(number)))
    return sorted(rng.choice(len(number), count, replace=False).tolist())
