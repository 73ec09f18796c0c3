"""MPS, LP and .nl files as instances, their decimals as rationals.

Nothing is rounded, and what solvers read differently is refused (`gadgetopt.proofs.reading`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.proofs.reading.draft import NegativeUp
from gadgetopt.proofs.reading.model_files import read_model
from gadgetopt.proofs.reading.text import Unreadable
from gadgetopt.system.data import Instance
from gadgetopt.system.declaring import importer
from gadgetopt.system.reading import check_regular
from gadgetopt.system.reading.suffixes import name_of

from ...instance import MipInstance

_HELP = {"negative_up": "what an upper bound below 0 without a lower one means"}


@importer(help=_HELP, suffixes=(".mps",))
def mps(
    files: Sequence[Path], rng: np.random.Generator, *, negative_up: NegativeUp = "refused"
) -> ImportOutcome:
    """MPS, fixed or free, packed or not.

    Parameters
    ----------
    files : sequence of Path
    rng : numpy.random.Generator
        Not used: nothing is drawn.
    negative_up : "refused", "free" or "zero"
        Solvers differ in whether the lower bound is then missing or 0; refused where it is not
        said.

    Raises
    ------
    InputError
        If a file cannot be read, or solvers read it differently.
    """
    return _outcome("mps", files, negative_up)


@importer(help=_HELP, suffixes=(".lp",))
def lp(
    files: Sequence[Path], rng: np.random.Generator, *, negative_up: NegativeUp = "refused"
) -> ImportOutcome:
    """CPLEX LP, packed or not.

    Parameters and errors are those of `mps`.
    """
    return _outcome("lp", files, negative_up)


@importer(suffixes=(".nl",))
def nl(files: Sequence[Path], rng: np.random.Generator) -> ImportOutcome:
    """AMPL's .nl in text form, with the names of the .col and .row files beside it.

    Parameters and errors are those of `mps`.
    """
    return _outcome("nl", files)


def _outcome(
    form: str, files: Sequence[Path], negative_up: NegativeUp = "refused"
) -> ImportOutcome:
    """Read each file as an instance."""
    if not files:
        raise InputError("files: none given, expected at least one")
    origin: dict[str, Any] = {"format": form}
    if negative_up != "refused":
        origin["negative_up"] = negative_up
    instances: list[tuple[str, Instance]] = []
    origins = {}
    for path in files:
        check_regular(path)
        try:
            named = read_model(path, negative_up)
            origins[name_of(path)] = {
                "file": path.name,
                "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
                **({"chosen": named.notes} if named.notes else {}),
            }
        except Unreadable as error:
            raise InputError(f"{path}: {error}") from None
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        instances.append((name_of(path), MipInstance.of(named)))
    return ImportOutcome(instances, {"instances": len(instances)}, origin, origins)
