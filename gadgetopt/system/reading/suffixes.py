"""Files that are instances as they stand, told by their suffixes, such as .mps or .lp.gz.

An importer claims suffixes; only the files of importers that mention some are read for that, so
that a command which reads JSON does not wait for the parts of all systems.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gadgetopt.errors import InputError
from gadgetopt.system.printable import printable_line
from gadgetopt.system.registry import problem, problem_names

if TYPE_CHECKING:
    from gadgetopt.system.declaration import Importer, Problem

#: Ends of the names of packed files.
PACKED = (".gz", ".bz2")


class Imported(NamedTuple):
    """An instance that a file is, with what its document says of it."""

    problem: Problem
    name: str
    data: Any
    origin: dict[str, Any]


def suffix_of(path: Path) -> str:
    """Return the suffix of a file's name in lower case, that of packing left out.

    Examples
    --------
    >>> suffix_of(Path("bell5.MPS.gz")), suffix_of(Path("bell5.v2.lp"))
    ('.mps', '.lp')
    """
    return Path(_unpacked_name(path)).suffix.lower()


def _unpacked_name(path: Path) -> str:
    name = path.name
    return name[: -len(path.suffix)] if path.suffix.lower() in PACKED else name


def imported(path: Path) -> Imported | None:
    """Return the instance that a file of a claimed suffix is, None for another file.

    Raises
    ------
    InputError
        If the importer cannot read it.
    """
    suffix = suffix_of(path)
    place = None if suffix == ".json" else claims_of_all().get(suffix)
    if place is None:
        return None
    return _read(path, place, str(path))


def imported_object(given: Any, name: str) -> Imported | None:
    """Return the instance that an object of a claimed package is, None for another object.

    Raises
    ------
    InputError
        If the importer cannot read it.
    """
    place = claims_of_all().get(type(given).__module__.partition(".")[0])
    return None if place is None else _read(given, place, name)._replace(name=name)


def _read(given: Any, place: tuple[str, str], what: str) -> Imported:
    import numpy as np

    declared, importer = problem(place[0]), _importer(*place)
    outcome = importer.read([given], np.random.default_rng(0), **importer.parameters)
    if len(outcome.instances) != 1:
        raise InputError(f"{what}: {len(outcome.instances)} instances, expected one")
    ((own, data),) = outcome.instances
    origin = {**outcome.origin, **outcome.origin_of.get(own, {})}
    return Imported(declared, own, data, origin)


def name_of(path: Path) -> str:
    """Return the name of the instance in a file: the file's without suffixes."""
    stem = _unpacked_name(path)
    return printable_line(stem[: -len(Path(stem).suffix)])


def _importer(system: str, form: str) -> Importer:
    return next(i for i in problem(system).importers if i.format == form)


def claims_of_all() -> dict[str, tuple[str, str]]:
    """Return the suffixes and packages that importers claim, with a system's name and a format.

    Where two systems claim one, it is the first one's in the alphabet.
    """
    found: dict[str, tuple[str, str]] = {}
    for name in problem_names():
        try:
            claims = problem(name).claims()
        except InputError:  # a declaration that cannot be loaded, which is told elsewhere
            continue
        for suffix, form in claims.items():
            found.setdefault(suffix, (name, form))
    return found
