"""Instances from text files with the nodes of one mini-batch a line."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gadgetopt.errors import InputError
from gadgetopt.pieces.rejections import Rejection, in_one_line
from gadgetopt.system.declaring import importer
from gadgetopt.system.reading import decoded, decompressed, read_bytes

if TYPE_CHECKING:
    import numpy as np

    from gadgetopt.pieces.import_outcome import ImportOutcome


@importer(
    name="batches",
    help={
        "capacity": "nodes that the device retains, which the file does not say",
        "order": "'given' or 'free'",
    },
)
def batches_text(
    files: Sequence[Path],
    rng: np.random.Generator,
    *,
    capacity: int = 1000,
    order: Literal["given", "free"] = "given",
) -> ImportOutcome:
    """Text files, plain or gzip: the node ids of one batch a line.

    Make an instance of each file: a line is a batch, its node ids separated by blanks or commas.

    Empty lines and lines that start with # are skipped. Nodes that a line names twice count once.

    Parameters
    ----------
    files : sequence of Path
        Plain text, or gzip if the name ends in .gz.
    rng : numpy.random.Generator
        Not used: nothing is drawn.
    capacity : int, default 1000
    order : "given" or "free", default "given"

    Raises
    ------
    InputError
        If a file cannot be read or no line of it is a batch.
    """
    from gadgetopt.pieces.file_imports import FileImports

    from ...instance import CacheInstance

    if not files:
        raise InputError("files: none given, expected at least one")
    if order not in ("given", "free"):
        raise InputError(f"order: {order!r}, expected 'given' or 'free'")
    imports = FileImports("batches", {"capacity": capacity, "order": order})
    for path in map(Path, files):
        lines, digest = _lines(path)
        batches: list[tuple[int, ...]] = []
        rejected: list[Rejection] = []
        for line, text in lines:
            words = text.replace(",", " ").split()
            wrong = next((w for w in words if not _is_node(w)), None)
            if wrong is None:
                batches.append(tuple(sorted({int(w) for w in words})))
            else:
                reason = "expected node ids of at most 18 digits"
                rejected.append(Rejection(path.name, line, reason, wrong))
        if not batches:
            raise InputError(
                f"{path}: no line has node ids only (rejected: {in_one_line(rejected)})"
            )
        name = f"{path.name.removesuffix('.gz').rsplit('.', 1)[0]}_{len(batches)}x{capacity}"
        instance = CacheInstance(requests=tuple(batches), capacity=capacity, order=order)
        imports.add(
            name,
            instance,
            path=path,
            sha256=digest,
            rows_read=len(lines),
            rejected=rejected,
        )
    return imports.outcome()


def _is_node(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= 18


def _lines(path: Path) -> tuple[list[tuple[int, str]], str]:
    """Return the numbered lines that are not empty or comments, and the file's digest."""
    raw = read_bytes(path)
    text = decoded(path, decompressed(path, raw) if path.suffix == ".gz" else raw)
    lines = [(k, line.strip()) for k, line in enumerate(text.splitlines(), start=1)]
    kept = [(k, line) for k, line in lines if line and not line.startswith("#")]
    return kept, hashlib.sha256(raw).hexdigest()
