"""What a printed summary shows: its columns, and the names that readers of a paper know."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.reporting.summary.columns import COLUMNS, Column

_TABLES = ("systems", "methods", "columns")


@dataclass(frozen=True)
class Names:
    """Names in print, by the names of the project; what has none keeps its own."""

    systems: Mapping[str, str] = field(default_factory=dict)
    methods: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Choice:
    """What to show.

    Attributes
    ----------
    columns : tuple of str
        Keys of `COLUMNS` in the order wanted, all of them shown; if none, what says something
        and fits.
    names : Names
    """

    columns: tuple[str, ...] = ()
    names: Names = field(default_factory=Names)

    def of(self, columns: Sequence[Column]) -> list[Column]:
        """Return the columns wanted, or else these, with their heads as named."""
        by_key = {column.key: column for column in COLUMNS}
        kept = [by_key[key] for key in self.columns] if self.columns else list(columns)
        heads = self.names.columns
        return [replace(c, head=(heads[c.key],)) if c.key in heads else c for c in kept]


def checked_columns(names: Sequence[str]) -> tuple[str, ...]:
    """Return the keys of columns.

    Raises
    ------
    InputError
        If there is no such column.
    """
    known = [column.key for column in COLUMNS]
    for name in names:
        if name not in known:
            raise InputError(f"--columns: {name!r} is not one of {', '.join(known)}")
    return tuple(dict.fromkeys(names))


def read_names(path: Path) -> Names:
    """Read names from a TOML file with the tables `systems`, `methods` and `columns`.

    Raises
    ------
    InputError
        If the file is missing, not TOML, or holds anything else.
    """
    try:
        found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from None
    for table, names in found.items():
        if table not in _TABLES or not isinstance(names, dict):
            raise InputError(f"{path}: {table}: expected the tables {', '.join(_TABLES)}")
        for name, text in names.items():
            if not isinstance(text, str):
                raise InputError(f"{path}: {table}.{name}: {text!r}: expected a text")
    known = [column.key for column in COLUMNS]
    for name in found.get("columns", {}):
        if name not in known:
            raise InputError(f"{path}: columns.{name}: expected one of {', '.join(known)}")
    return Names(**found)
