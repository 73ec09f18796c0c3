"""One SQLite file of runs: each row is written as soon as its run ends, and found by its key.

Any number of readers may query the file while it is being filled, and several writers may fill it:
SQLite's write-ahead log keeps them apart. A writer records the runs it is working on (its
*claims*), so that another writer takes others; the claims of a dead writer are void.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from gadgetopt.errors import InputError
from gadgetopt.runs.origins import Origin, add_origins, read_origins
from gadgetopt.runs.rows import (
    DETAILS,
    Row,
    RunExtras,
    StoredRun,
    check_values,
    extras_of,
    from_row,
    numbers_of,
    to_row,
)
from gadgetopt.runs.store_file import StoreFile
from gadgetopt.system.features import features_of
from gadgetopt.system.files import Document, document_text, parse

logger: logging.Logger = logging.getLogger(__name__)

T = TypeVar("T")

#: A method of a system: the problem's name and the method's label.
Call = tuple[str, str]

#: Seconds after which a claim expires unless its writer renews it.
CLAIM_S = 60.0

#: Largest difference of two hosts' clocks, in seconds, before claims are taken as void.
CLOCKS_DIFFER_S = 60.0

#: Damaged rows that are reported one by one.
MOST_TOLD = 20

# The position of the next run.
_NEXT = """
1 + max((SELECT coalesce(max(position), 0) FROM runs),
        (SELECT coalesce(max(position), 0) FROM claims))
"""

#: Values per statement; the oldest builds of SQLite allow 999.
_CHUNK = 500


@dataclass(frozen=True)
class StoredInstance:
    """Size, features and origins of a stored instance; its data is read by `Store.instance`.

    There is an origin for each name under which the instance was given.
    """

    fingerprint: str
    problem: str
    name: str
    size: Mapping[str, float]
    features: Mapping[str, float]
    origins: tuple[Origin, ...] = ()


class Store(StoreFile):
    """The runs of one file, or of none: `Store(None)` lives in memory.

    Parameters
    ----------
    path : Path or None
    create : bool
        True to write; a missing file is created. Otherwise the file must exist, and is changed only
        to bring older tables up to date.

    Raises
    ------
    InputError
        If the file is not a store, is damaged, or was written by a newer gadgetopt. It is not
        changed.
    """

    _told = 0  # damaged rows so far

    # -- runs --------------------------------------------------------------------------------------

    def add(self, run: StoredRun) -> None:
        """Write a run; a run under the same key is replaced."""
        self.add_row(to_row(run))

    def add_row(self, row: Row, keep_finished: bool = False) -> None:
        """Write a run given as its row.

        Parameters
        ----------
        row : Row
        keep_finished : bool
            Keep a finished run instead of replacing it by an error; an interrupted run never
            replaces it.
        """
        marks = ", ".join(f":{name}" for name in row)
        failed = row["status"] in ("error", "not_applicable")
        worse = row["limit_hit"] == "interrupted" or (keep_finished and failed)
        with self._clear_errors(), self._transaction():
            if not (worse and self.finished([row["key"]], retry_errors=True)):
                self._connection.execute(
                    f"INSERT OR REPLACE INTO runs ({', '.join(row)}, position) VALUES ({marks}, "
                    f"coalesce((SELECT position FROM claims WHERE key = :key), {_NEXT}))",
                    row,
                )
            self._connection.execute("DELETE FROM claims WHERE key = ?", (row["key"],))

    def get(self, key: str) -> StoredRun | None:
        """Return the run stored under a key.

        Raises
        ------
        InputError
            If its row is damaged.
        """
        with self._clear_errors():
            row = next(self._rows("SELECT * FROM runs WHERE key = ?", (key,)), None)
        try:
            return None if row is None else from_row(row)
        except Exception as error:  # a damaged row may hold anything
            raise InputError(self._damage("run", key, error)) from None

    def runs(self, details: bool = True) -> list[StoredRun]:
        """Return all undamaged runs in the order in which they were started.

        Without `details` they lack solution, certificate, evaluation and trace, so that a table of
        a million runs is quick to read.
        """
        with self._clear_errors():
            rows = self._rows(
                f"SELECT {', '.join(self._columns(details))} FROM runs ORDER BY position"
            )
            return [run for _, run in self._readable(rows, "run", "key", from_row)]

    def read_runs(self, columns: str, read: Callable[[Row], T]) -> list[T]:
        """Return what is read of some columns of all undamaged runs, `key` among them."""
        with self._clear_errors():
            rows = self._rows(f"SELECT {columns} FROM runs ORDER BY position")
            return [found for _, found in self._readable(rows, "run", "key", read)]

    def runs_of(self, keys: Sequence[str], details: bool = False) -> dict[str, StoredRun]:
        """Return the undamaged runs stored under some of the keys."""
        found: dict[str, StoredRun] = {}
        columns = ", ".join(self._columns(details))
        with self._clear_errors():
            for part, marks in _chunks(keys):
                rows = self._rows(f"SELECT {columns} FROM runs WHERE key IN ({marks})", part)
                found.update(self._readable(rows, "run", "key", from_row))
        return found

    def extras(self, keys: Container[str]) -> dict[str, RunExtras]:
        """Return the further parts of some runs, without damaged ones."""
        with self._clear_errors():
            rows = self._rows(
                "SELECT key, fingerprint, trace, evaluation, solution, finished_at FROM runs"
            )
            wanted = (row for row in rows if row["key"] in keys)
            return dict(self._readable(wanted, "run", "key", extras_of))

    def find_keys(self, start: str) -> list[str]:
        """Return the first two keys with this beginning."""
        with self._clear_errors():
            found = self._connection.execute(
                "SELECT key FROM runs WHERE substr(key, 1, ?) = ? LIMIT 2", (len(start), start)
            )
            return [key for (key,) in found]

    def finished(self, keys: Sequence[str], retry_errors: bool = False) -> set[str]:
        """Return the keys whose runs need not be done (again).

        Interrupted runs are done again, with `retry_errors` also errors.
        """
        return self.taken(keys, retry_errors)[0]

    def taken(
        self, keys: Sequence[str], retry_errors: bool = False
    ) -> tuple[set[str], float | None]:
        """Return the keys of `finished`, and the age in days of the oldest of their runs."""
        error = "AND (status <> 'error' OR refused)" if retry_errors else ""
        done: set[str] = set()
        oldest: float | None = None
        with self._clear_errors():
            for part, marks in _chunks(keys):
                rows = self._connection.execute(
                    "SELECT key, julianday('now') - julianday(finished_at) FROM runs "
                    f"WHERE key IN ({marks}) "
                    f"AND coalesce(limit_hit, '') <> 'interrupted' {error}",
                    part,
                )
                for key, age_days in rows:
                    done.add(key)
                    if age_days is not None and (oldest is None or age_days > oldest):
                        oldest = age_days
        return done, oldest

    def closed(self, keys: Sequence[str]) -> set[str]:
        """Return the fingerprints of the instances that some of the runs closed.

        They were solved to optimality, or proved infeasible.
        """
        found: set[str] = set()
        with self._clear_errors():
            for part, marks in _chunks(keys):
                found.update(
                    fingerprint
                    for (fingerprint,) in self._connection.execute(
                        "SELECT DISTINCT fingerprint FROM runs "
                        f"WHERE key IN ({marks}) AND status IN ('optimal', 'infeasible')",
                        part,
                    )
                )
        return found

    def of_other_code(self, fingerprints: Container[str], codes: Mapping[Call, str]) -> int:
        """Return the number of runs of some methods on some instances made by other code.

        Parameters
        ----------
        fingerprints : container of str
        codes : mapping of (problem, method) to str
            The present code of the methods.
        """
        with self._clear_errors():
            rows = self._connection.execute(
                "SELECT problem, method, fingerprint, code, count(*) FROM runs GROUP BY 1, 2, 3, 4"
            )
            return sum(
                count
                for problem, method, fingerprint, code, count in rows
                if fingerprint in fingerprints and codes.get((problem, method), code) != code
            )

    def _rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        cursor = self._connection.execute(query, values)
        names = [column[0] for column in cursor.description]
        return (dict(zip(names, row, strict=True)) for row in cursor)

    def _readable(
        self, rows: Iterable[Row], what: str, named: str, read: Callable[[Row], T]
    ) -> Iterator[tuple[str, T]]:
        """Yield name and contents of rows; warn of damaged rows instead."""
        for row in rows:
            try:
                yield row[named], read(row)
            except Exception as error:  # a damaged row may hold anything
                self._told += 1
                if self._told <= MOST_TOLD:
                    logger.warning("%s; left out", self._damage(what, row[named], error))
                elif self._told == MOST_TOLD + 1:
                    logger.warning("%s: more rows cannot be read and are left out", self.path)

    def _damage(self, what: str, name: str, error: Exception) -> str:
        """Describe in one printable line which row cannot be read, and why."""
        said = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        said = said.splitlines()[0][:300]
        line = f"{self.path}: {what} {str(name)[:12]}: cannot be read: {said}"
        return "".join(c if c.isprintable() else "?" for c in line)

    def _columns(self, details: bool) -> list[str]:
        names = [row[1] for row in self._connection.execute("PRAGMA table_info(runs)")]
        return [name for name in names if details or name not in DETAILS]

    # -- instances ---------------------------------------------------------------------------------

    def add_instance(self, document: Document) -> None:
        """Write an instance with its size and features unless it is already stored."""
        with self._clear_errors():
            known = self._connection.execute(
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
            self._connection.execute(
                "INSERT OR IGNORE INTO instances VALUES (?, ?, ?, ?, ?, ?)", row
            )
            add_origins(self._connection, [document])

    def add_origins(self, documents: Iterable[Document]) -> None:
        """Write the origins of instances, each under its name."""
        with self._clear_errors(), self._transaction():
            add_origins(self._connection, documents)

    def instances(self) -> dict[str, StoredInstance]:
        """Return every undamaged instance's name, size, features and origins, by fingerprint.

        Damaged ones are warned of.
        """
        with self._clear_errors():
            origins = read_origins(self._connection)
            rows = self._rows(
                "SELECT fingerprint, problem, name, size, features FROM instances ORDER BY rowid"
            )
            found = dict(self._readable(rows, "instance", "fingerprint", _stored_instance))
        return {
            key: replace(instance, origins=tuple(origins.get(key, ())))
            for key, instance in found.items()
        }

    def instance(self, fingerprint: str) -> Document | None:
        """Return an instance with its data.

        Raises
        ------
        InputError
            If the stored data is not that instance.
        """
        with self._clear_errors():
            row = self._connection.execute(
                "SELECT document FROM instances WHERE fingerprint = ?", (fingerprint,)
            ).fetchone()
        if row is None:
            return None
        what = f"{self.path}: instance {fingerprint[:12]}"
        try:
            check_values({"document": row[0]})
        except ValueError as error:
            raise InputError(f"{what}: is damaged: {error}") from None
        document = parse(row[0], what)
        if document.kind != "instance" or document.fingerprint != fingerprint:
            raise InputError(f"{what}: is damaged: not the data that its fingerprint is of")
        return document

    # -- claims ------------------------------------------------------------------------------------

    def claim(self, key: str) -> bool:
        """Return True if this client may work on a run: no other living client has claimed it."""
        with self._clear_errors(), self._transaction():
            row = self._connection.execute(
                "SELECT host, pid, until FROM claims WHERE key = ?", (key,)
            ).fetchone()
            free = row is None or self._void(*row)
            if free:
                self._connection.execute(
                    f"INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, {_NEXT})",
                    (key, *self._owner, time.time() + CLAIM_S),
                )
        return free

    def release(self, key: str) -> None:
        """Give up a claim of this client."""
        with self._clear_errors():
            self._connection.execute(
                "DELETE FROM claims WHERE key = ? AND (host, pid) = (?, ?)", (key, *self._owner)
            )

    def renew_claims(self) -> None:
        """Renew the claims of this client."""
        with self._clear_errors():
            self._connection.execute(
                "UPDATE claims SET until = ? WHERE (host, pid) = (?, ?)",
                (time.time() + CLAIM_S, *self._owner),
            )

    def running(self) -> int:
        """Return the number of runs that clients are working on."""
        with self._clear_errors():
            claims = self._connection.execute("SELECT host, pid, until FROM claims").fetchall()
        return sum(self._at_work(*claim) for claim in claims)

    def _at_work(self, host: Any, pid: Any, until: Any) -> bool:
        """Return True if the client of a claim, this one or another, still works on its run."""
        if (host, pid) == self._owner and isinstance(until, int | float):
            return until > time.time()
        return not self._void(host, pid, until)

    def _void(self, host: Any, pid: Any, until: Any) -> bool:
        if not isinstance(pid, int) or not isinstance(until, int | float):  # a damaged row
            return True
        if (host, pid) == self._owner or until < time.time():
            return True
        if host == self._owner[0]:
            return not _alive(pid)
        # A claim from the future was made while a clock was wrong.
        return until > time.time() + CLAIM_S + CLOCKS_DIFFER_S


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # another user's process, but alive
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
    except Exception as error:  # a column that cannot be computed must not end a batch
        logger.warning("%s: no columns of its own: %s: %s", name, type(error).__name__, error)
        return "{}"


def _stored_instance(row: Row) -> StoredInstance:
    check_values(row)
    size, features = numbers_of(row["size"]), numbers_of(row["features"])
    return StoredInstance(row["fingerprint"], row["problem"], row["name"], size, features)
