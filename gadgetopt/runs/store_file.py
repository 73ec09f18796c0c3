"""The file of a store: opening, checking, migrating and closing it."""

from __future__ import annotations

import operator
import os
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from gadgetopt.errors import InputError
from gadgetopt.runs.store_tables import (
    APPLICATION_ID,
    CREATE,
    MIGRATIONS,
    READABLE_VERSION,
    SCHEMA_VERSION,
)
from gadgetopt.system.reading import check_regular

#: Seconds to wait for other writers.
PATIENCE_S = 60.0


#: What a query of a damaged file ends in: Python's own errors come from names that are not text,
#: and from sizes that no store has.
_DAMAGE = (sqlite3.Error, UnicodeError, OverflowError, MemoryError)


def is_store(path: Path) -> bool:
    """Return True if a file is an SQLite database, as stores are."""
    try:
        check_regular(path)
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except (OSError, InputError):
        return False


class StoreFile:
    """The open file of a store; its queries are those of `gadgetopt.runs.store.Store`.

    Attributes
    ----------
    new : bool
        True if the store was created.
    """

    def __init__(self, path: Path | None, create: bool = True):
        self.path = path
        self.create = create
        self.new: bool = False
        self._owner = (socket.gethostname(), os.getpid())
        if path is not None:
            check_regular(path)
            if not create and not path.exists():
                raise InputError(f"{path}: no such store")
        with self._clear_errors():
            if path is None or create:
                self._connection = _connect(path or ":memory:")
                self._prepare()
            else:
                self._open_to_read(path)

    def _open_to_read(self, path: Path) -> None:
        self._connection = _connect(path, "mode=ro")
        try:
            version = self._check()
        except sqlite3.OperationalError:
            # If not even the index of the write-ahead log can be created, nobody can be writing.
            self._connection = _connect(path, "immutable=1")
            version = self._check()
        if version < READABLE_VERSION:
            self._connection.close()
            self._connection = _connect(path)
            self._prepare()

    def _check(self) -> int:
        """Return the version of the tables, 0 for a new file; refuse a file that is not a store."""
        execute = self._connection.execute
        execute("BEGIN")  # a consistent state of a file that another client may be creating
        try:
            ours = execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
            version: int = execute("PRAGMA user_version").fetchone()[0]
            tables = execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        finally:
            execute("ROLLBACK")
        if ours and version > SCHEMA_VERSION:
            raise InputError(
                f"{self.path}: store of version {version}, expected at most {SCHEMA_VERSION} "
                "(written by a newer gadgetopt)"
            )
        if not ours and (tables or not self.create):
            raise InputError(f"{self.path}: an SQLite file, but not a gadgetopt store")
        if ours and version < 1:
            raise InputError(f"{self.path}: store of version {version}, expected 1 or more")
        return version if ours else 0

    def _prepare(self) -> None:
        execute = self._connection.execute
        version = self._check()
        self.new = version == 0
        if version < SCHEMA_VERSION:
            self._bring_up_to_date()
        until = time.monotonic() + PATIENCE_S
        while True:  # SQLite does not wait for the lock that this takes on a new file
            try:
                execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(0.01)
        execute("PRAGMA synchronous = NORMAL")

    def _bring_up_to_date(self) -> None:
        execute = self._connection.execute
        # The write lock separates two clients that open a new or old file at the same time; the
        # second finds the work done.
        with self._transaction():
            if execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                for statement in CREATE:
                    execute(statement)
            else:
                for step in range(execute("PRAGMA user_version").fetchone()[0], SCHEMA_VERSION):
                    for statement in MIGRATIONS[step]:
                        execute(statement)
            execute(f"PRAGMA application_id = {APPLICATION_ID}")
            execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._between("BEGIN IMMEDIATE"):
            yield

    @contextmanager
    def writing(self) -> Iterator[Callable[..., sqlite3.Cursor]]:
        """Change the store in one transaction, by the function that is yielded."""
        with self._clear_errors(), self._transaction():
            yield self._connection.execute

    def query(self, text: str, values: Sequence[Any] = ()) -> Iterator[dict[str, Any]]:
        """Yield the rows of a query."""
        with self._clear_errors():
            cursor = self._connection.execute(text, values)
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield dict(zip(names, row, strict=True))

    def columns(self) -> list[str]:
        """Return the columns of the table of runs; old stores have fewer."""
        return [row["name"] for row in self.query("PRAGMA table_info(runs)")]

    def vacuum(self) -> bool:
        """Give unused space back to the file system; return False while others use the file."""
        with self._clear_errors():
            try:
                self._connection.execute("VACUUM")
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.OperationalError:  # another client is writing or reading
                return False
        return True

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read a consistent state of a store that others may be writing to."""
        with self._clear_errors(), self._between("BEGIN"):
            yield

    @contextmanager
    def _between(self, begin: str) -> Iterator[None]:
        self._connection.execute(begin)
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except _DAMAGE as error:
            said = str(error) if isinstance(error, sqlite3.Error) else "its tables are damaged"
            raise InputError(f"{self.path}: cannot be used as a store: {said}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.create:
            with suppress(sqlite3.DatabaseError):  # claims expire anyway
                self._connection.execute(
                    "DELETE FROM claims WHERE (host, pid) = (?, ?)", self._owner
                )
        self._connection.close()


def _connect(path: Path | str, how: str | None = None) -> sqlite3.Connection:
    # Transactions are begun and committed explicitly, or are single statements.
    name, uri = (path, False)
    if how is not None:
        name, uri = f"{Path(path).resolve().as_uri()}?{how}", True
    connection = sqlite3.connect(name, uri=uri, timeout=PATIENCE_S, isolation_level=None)
    # Bytes that are not text must spoil one row only, not the whole query: see `rows.check_values`.
    connection.text_factory = operator.methodcaller("decode", "utf-8", "surrogateescape")
    return connection
