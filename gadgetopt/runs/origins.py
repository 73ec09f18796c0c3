"""Where a store's instances come from: preset, parameters and seed, for each name of an instance.

Two values of a parameter may give the same data. Such an instance is solved once; each of its
origins is kept, so that no value is missing from a sweep.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gadgetopt.system.files import Document

TABLE = """
CREATE TABLE IF NOT EXISTS origins (
    fingerprint TEXT NOT NULL,
    name TEXT NOT NULL,
    origin TEXT NOT NULL,
    PRIMARY KEY (fingerprint, name)
) STRICT
"""

# Stores of earlier versions have origins only inside the instances' documents.
_OF_DOCUMENTS = """
SELECT fingerprint, name, json_extract(document, '$.origin') AS origin FROM instances
WHERE CASE WHEN json_valid(document) THEN json_type(document, '$.origin') = 'object' ELSE 0 END
"""

#: Fills the table from the documents of the instances.
FILL = f"INSERT OR IGNORE INTO origins {_OF_DOCUMENTS}"


@dataclass(frozen=True)
class Origin:
    """The origin of an instance under one of its names.

    Attributes
    ----------
    preset : str or None
        The generator, or the format that was imported; None if the file does not say it.
    seed, index : int or None
        The seed of its series and its position in it.
    parameters : mapping
        Of the generator or importer, defaults included.
    within : str or None
        The tolerance by which a model file's rows are relaxed; None if they are not.
    """

    name: str
    preset: str | None = None
    seed: int | None = None
    index: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    within: str | None = None


def origin_of(name: str, plain: Mapping[str, Any]) -> Origin:
    """Return the origin that a file states; what it does not state, or not as expected, is None."""
    preset = plain.get("generator", plain.get("format"))
    parameters = plain.get("parameters", plain.get("options"))
    within = plain.get("within")
    return Origin(
        name,
        preset if isinstance(preset, str) else None,
        _whole(plain.get("seed")),
        _whole(plain.get("index")),
        parameters if isinstance(parameters, Mapping) else {},
        within if isinstance(within, str) else None,
    )


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def add_origins(connection: sqlite3.Connection, documents: Iterable[Document]) -> None:
    """Write the origins of instances, each under its name; known ones are replaced."""
    connection.executemany(
        "INSERT OR REPLACE INTO origins VALUES (?, ?, ?)",
        (
            (document.fingerprint, document.name, json.dumps(dict(document.origin)))
            for document in documents
            if document.origin
        ),
    )


def read_origins(connection: sqlite3.Connection) -> dict[str, list[Origin]]:
    """Return the origins of each instance, by fingerprint; those that cannot be read are left out.

    A store that lacks the table has the origins of its instances' documents.
    """
    known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'origins'").fetchone()
    query = "SELECT fingerprint, name, origin FROM origins ORDER BY rowid"
    out: dict[str, list[Origin]] = {}
    for fingerprint, name, text in connection.execute(query if known else _OF_DOCUMENTS):
        try:
            plain = json.loads(text)
            (fingerprint + name + text).encode()  # bytes that are not text are lone surrogates
        except (TypeError, ValueError, RecursionError):
            continue
        if isinstance(plain, dict):
            out.setdefault(fingerprint, []).append(origin_of(name, plain))
    return out
