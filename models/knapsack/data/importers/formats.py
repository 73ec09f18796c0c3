"""Importers of the public benchmark files; `reading.py` describes the formats.

The files are OR-Library's (J. E. Beasley, "OR-Library: distributing test problems by electronic
mail", Journal of the Operational Research Society 41, 1990) and those of S. Khan's multiple-choice
knapsacks. They are not part of this project.

The optimum that a file states goes into the origin of the instance's file, as `stated_optimum`, and
is never used. In mknapcb1 to mknapcb9 it is the best value known to Chu and
Beasley, which for large problems is not the optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.system.declaring import importer

from .reading import KnapsackFile, NamedKnapsack, read_mmkp, read_orlib

_HELP = {"problems": "numbers from 0 or names with *, separated by commas; empty: all"}


@importer(name="orlib-mknap", help=_HELP)
def orlib_mknap(
    files: Sequence[Path], rng: np.random.Generator, *, problems: str = ""
) -> ImportOutcome:
    """OR-Library's files mknap1, mknap2 and mknapcb1 to mknapcb9.

    Parameters
    ----------
    files : sequence of Path
    rng : numpy.random.Generator
        Not used: nothing is drawn.
    problems : str
        Which problems to take, separated by commas: numbers from 0 in the order of each file, or
        names in which * stands for anything; empty takes all.

    Raises
    ------
    InputError
        If a file cannot be read, or `problems` names none of them.
    """
    return _import("orlib-mknap", read_orlib, files, problems)


@importer(help=_HELP)
def mmkp(files: Sequence[Path], rng: np.random.Generator, *, problems: str = "") -> ImportOutcome:
    """Khan's multiple-choice knapsacks I01 to I13.

    Parameters and errors are those of `orlib_mknap`.
    """
    return _import("mmkp", read_mmkp, files, problems)


def _import(
    form: str, read: Callable[[Path], KnapsackFile], files: Sequence[Path], problems: str
) -> ImportOutcome:
    if not files:
        raise InputError("files: none given, expected at least one")
    instances, details, sources = [], [], []
    origins: dict[str, dict[str, Any]] = {}
    known: list[str] = []
    wanted = [word.strip() for word in problems.split(",") if word.strip()]
    unused = set(wanted)
    for path in map(Path, files):
        held = read(path)
        sources.append({"name": path.name, "sha256": held.sha256})
        for index, found in enumerate(held.problems):
            known.append(found.name)
            asked = {word for word in wanted if _means(word, index, found.name)}
            unused -= asked
            if wanted and not asked:
                continue
            if found.name in origins:
                raise InputError(f"{path}: {found.name}: is also in another of the files")
            origins[found.name] = {"file": path.name, "index": index, **found.stated}
            instances.append((found.name, found.instance))
            details.append(_described(found))
    for word in wanted:
        if word in unused:
            raise InputError(
                f"problems: {word!r} is none of the {len(known)} in the files, expected a number "
                f"from 0 or a name such as {known[0]}"
            )
    return ImportOutcome(
        list(instances),
        {"problems_read": len(known), "problems_taken": len(instances), "instances": details},
        {"format": form, "files": sources, "options": {"problems": problems}},
        origins,
    )


def _means(word: str, index: int, name: str) -> bool:
    if word.isascii() and word.isdigit():
        return int(word) == index
    return fnmatch(name.lower(), word.lower())


def _described(found: NamedKnapsack) -> dict[str, Any]:
    instance = found.instance
    return {
        "name": found.name,
        "items": instance.num_items,
        "groups": len(instance.groups),
        "rows": len(instance.capacities),
        **found.stated,
    }
