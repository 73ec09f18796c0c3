"""What importers of files share: instances, rejected rows and sources; plans of another system."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from gadgetopt.errors import InputError
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.pieces.rejections import Rejection, by_reason
from gadgetopt.system.data import Instance
from gadgetopt.system.files import Document, read_instance, read_solution

Options = TypeVar("Options", bound=BaseModel)


@dataclass
class FileImports:
    """Instances of files, added one by one.

    Attributes
    ----------
    format : str
        Name of the importer.
    options : mapping
        The importer's options, as given.
    """

    format: str
    options: Mapping[str, Any]
    _instances: list[tuple[str, Instance]] = field(default_factory=list)
    _details: list[dict[str, Any]] = field(default_factory=list)
    _sources: list[dict[str, str]] = field(default_factory=list)

    def add(
        self,
        name: str,
        instance: Instance,
        *,
        path: Path,
        sha256: str,
        rows_read: int,
        rejected: Sequence[Rejection],
    ) -> None:
        """Add the instance of a file, with the rows of the file that were read and rejected."""
        self._instances.append((name, instance))
        self._sources.append({"name": path.name, "sha256": sha256})
        self._details.append(
            {
                "name": name,
                "rows_read": rows_read,
                "rows_rejected": len(rejected),
                "rejected": by_reason(rejected),
            }
        )

    def outcome(self) -> ImportOutcome:
        """Return the outcome of the importer."""
        origin = {"format": self.format, "files": self._sources, "options": dict(self.options)}
        return ImportOutcome(self._instances, {"instances": self._details}, origin)


@contextmanager
def errors_of(path: Path) -> Iterator[None]:
    """Say which file is wrong, where it makes no instance.

    Raises
    ------
    InputError
        With the first thing that is wrong, in one line.
    """
    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(": ".join(part for part in (str(path), place, message) if part)) from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def options_of(model: type[Options], importer: str, given: Mapping[str, Any]) -> Options:
    """Return an importer's options.

    Raises
    ------
    InputError
        If one is wrong or unknown.
    """
    try:
        return model(**given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"][:1]))
        raise InputError(
            f"options of {importer}: {place}: {first['input']!r}: {first['msg']}"
        ) from error


def import_plans(
    importer: str,
    files: Sequence[Path],
    options: BaseModel,
    systems: Sequence[str],
    units: Mapping[str, str],
    make: Callable[[Document, Any, Path], tuple[str, Instance, dict[str, Any]]],
) -> ImportOutcome:
    """Make an instance of each pair of files, an instance of another system and its solution.

    Parameters
    ----------
    systems : sequence of str
        Those that the instances may be of.
    make : callable
        Returns name, instance and details, of an instance, a solution and the solution's file.

    Raises
    ------
    InputError
        If files are not pairs, cannot be read, or are of another system.
    """
    if not files or len(files) % 2:
        raise InputError(f"files: {len(files)}, expected pairs of an instance and its solution")
    paths = list(map(Path, files))
    instances: list[tuple[str, Instance]] = []
    details = []
    for first, second in zip(paths[::2], paths[1::2], strict=True):
        source = read_instance(first)
        if source.problem.name not in systems:
            expected = " or ".join(systems)
            raise InputError(f"{first}: is of {source.problem.name}, expected {expected}")
        name, instance, told = make(source, read_solution(second, source).data, second)
        instances.append((name, instance))
        details.append({"name": name, **told})
    origins = [
        {"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in paths
    ]
    origin = {
        "format": importer,
        "files": origins,
        "options": options.model_dump(mode="json"),
    }
    return ImportOutcome(instances, {"units": dict(units), "instances": details}, origin)
