"""Files of models, each read by the reader that its name asks for."""

from __future__ import annotations

from pathlib import Path

from gadgetopt.proofs.reading.draft import NamedModel, NegativeUp
from gadgetopt.proofs.reading.lp import read_lp
from gadgetopt.proofs.reading.mps import read_mps
from gadgetopt.proofs.reading.nl import read_nl
from gadgetopt.proofs.reading.text import Unreadable, text_of

FORMATS = (".mps", ".lp", ".nl")
PACKINGS = (".gz", ".bz2")


def format_of(path: Path) -> str | None:
    """Return the format that a file's name ends in, packed or not; None if it is another."""
    bare = Path(path.stem) if path.suffix.lower() in PACKINGS else path
    suffix = bare.suffix.lower()
    return suffix if suffix in FORMATS else None


def read_model(path: Path, negative_up: NegativeUp = "refused") -> NamedModel:
    """Return the model of a file in one of the `FORMATS`, packed or not.

    Raises
    ------
    Unreadable
        If it is no mixed-integer linear program, or one that solvers read differently.
    OSError
        If it cannot be read.
    """
    form = format_of(path)
    if form == ".mps":
        return read_mps(text_of(path), negative_up)
    if form == ".lp":
        return read_lp(text_of(path), negative_up)
    if form == ".nl":
        return read_nl(text_of(path), _names(path, ".col"), _names(path, ".row"))
    raise Unreadable(f"its name ends in none of {', '.join(FORMATS)}, packed by gzip, bzip2 or not")


def _names(path: Path, suffix: str) -> list[str]:
    """Return the names in a file beside an .nl file, none if it is not there."""
    bare = path.with_suffix("") if path.suffix.lower() in PACKINGS else path
    beside = bare.with_suffix(suffix)
    return text_of(beside).split("\n") if beside.is_file() else []
