"""What an importer keeps that makes an instance of each file: instances, rejected rows, sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gadgetopt.pieces.rejections import Rejection, by_reason
from gadgetopt.pieces.traces import ImportOutcome
from gadgetopt.system.data import Instance


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
