"""What a store holds, and how runs are deleted from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar

from gadgetopt.errors import InputError
from gadgetopt.runs.code.source_code import PresentCode
from gadgetopt.runs.rows import Row, check_values, status_of
from gadgetopt.runs.store import Store
from gadgetopt.system.methods import new_name
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Status

T = TypeVar("T")

#: Names that a refusal lists.
_MOST = 12

_FACTS = (
    "key, problem, method, kind, instance, fingerprint, status, refused, limit_hit, version, "
    "finished_at, julianday('now') - julianday(finished_at) AS age_days, bound"
)

_TOLD = (
    "key", "problem", "method", "kind", "instance", "fingerprint", "limit_hit", "version",
    "finished_at",
)  # fmt: skip


#: The status of runs with a dual bound and no solution, which tables call "bound only".
_BOUND_ONLY = "bound_only"


@dataclass(frozen=True)
class Fact:
    """What is known of a stored run without reading its result.

    `stale` is True if other or unknown code made it: `compare` would do it again. `status` is as in
    tables: `bound_only` for a run with a dual bound and no solution.
    """

    key: str
    problem: str
    method: str
    kind: str
    instance: str
    fingerprint: str
    status: str
    limit_hit: str | None
    version: str
    finished_at: str
    age_days: float
    stale: bool


def facts(store: Store) -> list[Fact]:
    """Return the facts about all runs of a store, in the order in which they were started.

    Damaged rows are warned of and left out.
    """
    code = "code" if "code" in store.columns() else "NULL AS code"
    present = PresentCode()

    def read(row: Row) -> Fact:
        check_values(row)
        made, status = row["code"], str(status_of(row))
        if status == Status.NO_SOLUTION and row["bound"] is not None:
            status = _BOUND_ONLY
        stale = made is None or made != present.of(row["problem"], row["method"])
        told = {name: row[name] for name in _TOLD}
        absent = [name for name, value in told.items() if value is None and name != "limit_hit"]
        if absent:
            raise ValueError(f"{absent[0]}: is missing")
        return Fact(**told, status=status, age_days=row["age_days"] or 0.0, stale=stale)

    return store.read_runs(f"{_FACTS}, {code}", read)


def selected(
    known: Sequence[Fact],
    systems: Sequence[str] = (),
    methods: Sequence[str] = (),
    instances: Sequence[str] = (),
    statuses: Sequence[str] = (),
    older_than_days: float | None = None,
    stale: bool = False,
) -> list[Fact]:
    """Return the runs that fit all filters; names may be patterns, methods also kinds.

    Raises
    ------
    InputError
        If a name fits no run.
    """
    kept = list(known)
    for option, patterns, names_of in (
        ("systems", systems, lambda f: (f.problem,)),
        ("methods", methods, lambda f: (f.method, f.method.partition(":")[0], f.kind)),
        ("instances", instances, lambda f: (f.instance,)),
        ("status", statuses, _statuses),
    ):
        kept = fitting(kept, option, patterns, names_of, known)
    if older_than_days is not None:
        kept = [fact for fact in kept if fact.age_days > older_than_days]
    return [fact for fact in kept if fact.stale] if stale else kept


def _statuses(fact: Fact) -> tuple[str, ...]:
    return (fact.status, "no_solution") if fact.status == _BOUND_ONLY else (fact.status,)


def fitting(
    things: Sequence[T],
    option: str,
    patterns: Sequence[str],
    names_of: Callable[[T], tuple[str, ...]],
    known: Sequence[T] | None = None,
) -> list[T]:
    """Return the things that one of the patterns fits by one of their names; all without patterns.

    A name fits itself, also if it has brackets, which a pattern reads as sets of letters.

    Raises
    ------
    InputError
        If a pattern fits nothing that is known, by default of the things themselves; the line lists
        it by the first of its names.
    """
    if not patterns:
        return list(things)
    names = [names_of(thing) for thing in (things if known is None else known)]
    for pattern in patterns:
        if not any(_fits(name, pattern) for own in names for name in own):
            listed = sorted({own[0] for own in names})
            more = f" and {len(listed) - _MOST} more" if len(listed) > _MOST else ""
            said = (", ".join(listed[:_MOST]) or "no runs") + more
            raise InputError(f"--{option}: {pattern!r} fits none of {said}")
    return [x for x in things if any(_fits(n, p) for n in names_of(x) for p in patterns)]


def _fits(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)


def status(store: Store) -> dict[str, Any]:
    """Return what a store holds, as plain values."""
    known = facts(store)
    groups: dict[tuple[str, str], list[Fact]] = {}
    for fact in known:
        groups.setdefault((fact.problem, fact.method), []).append(fact)
    return {
        "store": str(store.path),
        "bytes": 0 if store.path is None else file_bytes(store.path),
        "instances": len({fact.fingerprint for fact in known}),
        "runs": len(known),
        "errors": sum(fact.status == "error" for fact in known),
        "stale": sum(fact.stale for fact in known),
        "running": store.running(),
        "first": min((fact.finished_at for fact in known), default=None),
        "last": max((fact.finished_at for fact in known), default=None),
        "versions": dict(Counter(fact.version for fact in known)),
        "methods": [
            {
                "system": system,
                "method": method,
                "instances": len({fact.fingerprint for fact in own}),
                "runs": len(own),
                "statuses": dict(Counter(fact.status for fact in own)),
                "limits_hit": sum(fact.limit_hit is not None for fact in own),
                "stale": sum(fact.stale for fact in own),
                "last": max(fact.finished_at for fact in own),
                "renamed": _renamed(system, method),
            }
            for (system, method), own in groups.items()
        ],
    }


def _renamed(system: str, method: str) -> str | None:
    """Return the line about the new name of a stored method, if it was renamed."""
    try:
        return new_name(problem(system), method)
    except InputError:  # a system that is no longer there
        return None


def file_bytes(path: Path) -> int:
    """Return the size of a store with its write-ahead log."""
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def delete(store: Store, doomed: Iterable[Fact]) -> int:
    """Delete runs, and the instances that no run is left of; return the number of runs.

    A run that was done again since it was looked at is kept. While clients work on the store, no
    instance is deleted.
    """
    keys = [(fact.key, fact.finished_at) for fact in doomed]
    with store.writing() as execute:
        deleted = sum(
            execute("DELETE FROM runs WHERE key = ? AND finished_at = ?", pair).rowcount
            for pair in keys
        )
        if not store.running():
            for table in ("origins", "instances"):
                execute(
                    f"DELETE FROM {table} WHERE fingerprint NOT IN (SELECT fingerprint FROM runs)"
                )
    return deleted


def compact(store: Store) -> bool:
    """Give the space of deleted runs back; return False if a client works on the store."""
    return not store.running() and store.vacuum()
