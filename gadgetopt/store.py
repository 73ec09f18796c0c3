"""One SQLite file of runs: a row is written the moment its run ends, and found again by its key.

Any number of readers may query the file while it is being filled, and several writers may fill it:
SQLite's write-ahead log keeps them apart. A writer says which runs it is working on (a *claim*), so
that another one takes others; the claims of a writer that died are void.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.features import features_of
from gadgetopt.files import Document, document_text, parse
from gadgetopt.rows import DETAILS, Row, StoredRun, from_row, to_row
from gadgetopt.store_tables import APPLICATION_ID, CREATE, MIGRATIONS, SCHEMA_VERSION

logger = logging.getLogger(__name__)

#: Seconds for which a claim holds after its writer was last heard of.
CLAIM_S = 60.0

#: Seconds to wait for others that write.
PATIENCE_S = 60.0

# The place of a run that is taken on.
_NEXT = """
1 + max((SELECT coalesce(max(position), 0) FROM runs),
        (SELECT coalesce(max(position), 0) FROM claims))
"""

#: SQLite allows 999 values in one statement on its oldest builds.
_CHUNK = 500


@dataclass(frozen=True)
class StoredInstance:
    """What the store knows of an instance: its numbers here, its data by `Store.instance`."""

    fingerprint: str
    problem: str
    name: str
    size: Mapping[str, int]
    features: Mapping[str, float]


class Store:
    """The runs of one file, or of none: `Store(None)` lives in memory.

    Parameters
    ----------
    path : Path or None
    create : bool
        Whether to write: the file is made if there is none. Otherwise it must be there, and is
        changed only where an older version of the tables has to be brought up to date.

    Raises
    ------
    InputError
        If the file is not a store, is damaged, or was written by a newer gadgetopt. It is then left
        as it is.
    """

    def __init__(self, path: Path | None, create: bool = True):
        self.path = path
        self.create = create
        self._owner = (socket.gethostname(), os.getpid())
        if path is not None and not create and not path.exists():
            raise InputError(f"{path}: no such store")
        with self._clear_errors():
            if path is None or create:
                self.connection = _connect(path or ":memory:")
                self._prepare()
            else:
                self._open_to_read(path)

    def _open_to_read(self, path: Path) -> None:
        self.connection = _connect(path, "mode=ro")
        try:
            version = self._check()
        except sqlite3.OperationalError:
            # Where not even the index of the write-ahead log can be made, nobody can be writing.
            self.connection = _connect(path, "immutable=1")
            version = self._check()
        if version < SCHEMA_VERSION:
            self.connection.close()
            self.connection = _connect(path)
            self._prepare()

    def _check(self) -> int:
        """Return the version of the tables, 0 for a new file; refuse a file that is not ours."""
        execute = self.connection.execute
        execute("BEGIN")  # one state of a file that another client may be making
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
        return version if ours else 0

    def _prepare(self) -> None:
        execute = self.connection.execute
        if self._check() < SCHEMA_VERSION:
            self._bring_up_to_date()
        until = time.monotonic() + PATIENCE_S
        while True:  # SQLite does not wait by itself for the lock that this takes on a new file
            try:
                execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(0.01)
        execute("PRAGMA synchronous = NORMAL")

    def _bring_up_to_date(self) -> None:
        execute = self.connection.execute
        # Two clients that open a new or an old file at the same time are kept apart by the write
        # lock; the second finds the work done.
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
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise InputError(f"{self.path}: cannot be used as a store: {error}") from None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        if self.create:
            with suppress(sqlite3.DatabaseError):  # they expire by themselves
                self.connection.execute(
                    "DELETE FROM claims WHERE (host, pid) = (?, ?)", self._owner
                )
        self.connection.close()

    # -- runs --------------------------------------------------------------------------------------

    def add(self, run: StoredRun) -> None:
        """Write a run; one already there under the same key is replaced."""
        self.add_row(to_row(run))

    def add_row(self, row: Row, keep_finished: bool = False) -> None:
        """Write a run given as its row.

        Parameters
        ----------
        row : Row
        keep_finished : bool
            An error does not replace a run that came to its end; one that was interrupted never
            does.
        """
        marks = ", ".join(f":{name}" for name in row)
        worse = row["limit_hit"] == "interrupted" or (keep_finished and row["status"] == "error")
        with self._clear_errors(), self._transaction():
            if not (worse and self.finished([row["key"]], retry_errors=True)):
                self.connection.execute(
                    f"INSERT OR REPLACE INTO runs ({', '.join(row)}, position) VALUES ({marks}, "
                    f"coalesce((SELECT position FROM claims WHERE key = :key), {_NEXT}))",
                    row,
                )
            self.connection.execute("DELETE FROM claims WHERE key = ?", (row["key"],))

    def get(self, key: str) -> StoredRun | None:
        """Return the run stored under a key."""
        with self._clear_errors():
            cursor = self.connection.execute("SELECT * FROM runs WHERE key = ?", (key,))
            row = cursor.fetchone()
        return None if row is None else self._run(_named(cursor, row))

    def runs(self, details: bool = True) -> list[StoredRun]:
        """Return all runs in the order in which they were taken on.

        Without `details` they come without solution, certificate, evaluation and trace, which is
        what a table of a million runs has time for.
        """
        with self._clear_errors():
            cursor = self.connection.execute(
                f"SELECT {', '.join(self._columns(details))} FROM runs ORDER BY position"
            )
            return [self._run(_named(cursor, row)) for row in cursor]

    def runs_of(self, keys: Sequence[str], details: bool = False) -> dict[str, StoredRun]:
        """Return the runs stored under some keys, those that are there."""
        found: dict[str, StoredRun] = {}
        columns = ", ".join(self._columns(details))
        with self._clear_errors():
            for part, marks in _chunks(keys):
                cursor = self.connection.execute(
                    f"SELECT {columns} FROM runs WHERE key IN ({marks})", part
                )
                runs = (self._run(_named(cursor, row)) for row in cursor)
                found.update({run.key: run for run in runs})
        return found

    def finished(self, keys: Sequence[str], retry_errors: bool = False) -> set[str]:
        """Return those of some keys whose runs need not be done (again).

        A run that was interrupted is to be done again, and with `retry_errors` one that ended in an
        error; what a method refused to do it will refuse again.
        """
        error = "AND (status <> 'error' OR refused)" if retry_errors else ""
        done: set[str] = set()
        with self._clear_errors():
            for part, marks in _chunks(keys):
                rows = self.connection.execute(
                    f"SELECT key FROM runs WHERE key IN ({marks}) "
                    f"AND coalesce(limit_hit, '') <> 'interrupted' {error}",
                    part,
                )
                done.update(key for (key,) in rows)
        return done

    def _run(self, row: Row) -> StoredRun:
        try:
            return from_row(row)
        except (KeyError, TypeError, ValueError) as error:
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            raise InputError(f"{self.path}: run {row['key'][:12]}: cannot be read: {why}") from None

    def _columns(self, details: bool) -> list[str]:
        names = [row[1] for row in self.connection.execute("PRAGMA table_info(runs)")]
        return [name for name in names if details or name not in DETAILS]

    # -- instances ---------------------------------------------------------------------------------

    def add_instance(self, document: Document) -> None:
        """Write an instance with its size and features, unless it is there."""
        with self._clear_errors():
            known = self.connection.execute(
                "SELECT 1 FROM instances WHERE fingerprint = ?", (document.fingerprint,)
            )
            if known.fetchone() is not None:
                return
        problem, data = document.problem, document.data
        row = (
            document.fingerprint,
            problem.name,
            document.name,
            _numbers(problem.size, data, document.name),
            json.dumps(features_of(problem, data)),
            document_text(document),
        )
        with self._clear_errors():
            self.connection.execute(
                "INSERT OR IGNORE INTO instances VALUES (?, ?, ?, ?, ?, ?)", row
            )

    def instances(self) -> dict[str, StoredInstance]:
        """Return what is known of every instance, by fingerprint."""
        with self._clear_errors():
            rows = self.connection.execute(
                "SELECT fingerprint, problem, name, size, features FROM instances ORDER BY rowid"
            )
            return {
                row[0]: StoredInstance(
                    row[0], row[1], row[2], json.loads(row[3]), json.loads(row[4])
                )
                for row in rows
            }

    def instance(self, fingerprint: str) -> Document | None:
        """Return an instance with its data."""
        with self._clear_errors():
            row = self.connection.execute(
                "SELECT document FROM instances WHERE fingerprint = ?", (fingerprint,)
            ).fetchone()
        return None if row is None else parse(row[0], f"{self.path}: instance {fingerprint[:12]}")

    # -- claims ------------------------------------------------------------------------------------

    def claim(self, key: str) -> bool:
        """Say whether this client may work on a run: no other client that lives is at it."""
        with self._clear_errors(), self._transaction():
            row = self.connection.execute(
                "SELECT host, pid, until FROM claims WHERE key = ?", (key,)
            ).fetchone()
            free = row is None or self._void(*row)
            if free:
                self.connection.execute(
                    f"INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, {_NEXT})",
                    (key, *self._owner, time.time() + CLAIM_S),
                )
        return free

    def release(self, key: str) -> None:
        """Give a claim of this client up."""
        with self._clear_errors():
            self.connection.execute(
                "DELETE FROM claims WHERE key = ? AND (host, pid) = (?, ?)", (key, *self._owner)
            )

    def renew_claims(self) -> None:
        """Let the claims of this client hold for longer."""
        with self._clear_errors():
            self.connection.execute(
                "UPDATE claims SET until = ? WHERE (host, pid) = (?, ?)",
                (time.time() + CLAIM_S, *self._owner),
            )

    def _void(self, host: str, pid: int, until: float) -> bool:
        if (host, pid) == self._owner or until < time.time():
            return True
        return host == self._owner[0] and not _alive(pid)


def _connect(path: Path | str, how: str | None = None) -> sqlite3.Connection:
    # A row's transaction is begun and committed by hand, or is a single statement.
    if how is None:
        return sqlite3.connect(path, timeout=PATIENCE_S, isolation_level=None)
    uri = f"{Path(path).resolve().as_uri()}?{how}"
    return sqlite3.connect(uri, uri=True, timeout=PATIENCE_S, isolation_level=None)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's process, but a process
        return True
    return True


def _chunks(keys: Sequence[str]) -> Iterable[tuple[Sequence[str], str]]:
    for k in range(0, len(keys), _CHUNK):
        part = keys[k : k + _CHUNK]
        yield part, ", ".join("?" * len(part))


def _numbers(describe: Any, data: Any, name: str) -> str:
    if describe is None:
        return "{}"
    try:
        return json.dumps(dict(describe(data)), allow_nan=False)
    except Exception as error:  # a column that cannot be computed is not worth a batch
        logger.warning("%s: no columns of its own: %s: %s", name, type(error).__name__, error)
        return "{}"


def _named(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip((d[0] for d in cursor.description), row, strict=True))
