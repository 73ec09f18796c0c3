"""Several stores made one: the runs of a campaign that was split over machines."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gadgetopt.runs.origins import FILL
from gadgetopt.runs.rows import Row, check_values, status_of
from gadgetopt.runs.store import Store
from gadgetopt.system.result import Voucher

logger = logging.getLogger(__name__)

#: Vouchers of bounds, from the weakest to the strongest.
_VOUCHERS = [None, *map(str, Voucher)]


@dataclass
class Merged:
    """What merging did with the runs of other stores.

    Attributes
    ----------
    added, replaced, kept, damaged : int
        Runs that the store did not hold; that took the place of an error, an interrupted run or a
        bound with a weaker voucher; that it held already, as good; and that cannot be read.
    """

    added: int = 0
    replaced: int = 0
    kept: int = 0
    damaged: int = 0


def merge(store: Store, sources: Sequence[Store]) -> Merged:
    """Write the runs and instances of other stores into a store.

    Runs under one key asked for the same of the same code. The store's own run stays unless the
    other one finished where it did not, or its bound has a stronger voucher. Others are listed
    after the store's own, in the order of the sources. Each source is written in one transaction.
    """
    done = Merged()
    for source in sources:
        with source.snapshot(), store.writing() as execute:
            _merge_runs(execute, source, done)
            _merge_instances(execute, source)
    return done


def _merge_runs(execute: Callable[..., Any], source: Store, done: Merged) -> None:
    columns = [name for name in source.columns() if name != "position"]
    position = execute("SELECT coalesce(max(position), 0) FROM runs").fetchone()[0]
    names, marks = ", ".join(columns), ", ".join(f":{name}" for name in columns)
    insert = f"INSERT OR REPLACE INTO runs ({names}, position) VALUES ({marks}, :position)"
    for row in source.query(f"SELECT {names} FROM runs ORDER BY position"):
        if not _is_whole(row, source, "run"):
            done.damaged += 1
            continue
        row["status"] = str(status_of(row))  # older stores call what does not apply an error
        known = execute(
            "SELECT status, limit_hit, bound_voucher, position FROM runs WHERE key = ?",
            (row["key"],),
        ).fetchone()
        if known is None:
            position += 1
            execute(insert, row | {"position": position})
            done.added += 1
        elif _worth(row["status"], row["limit_hit"], row["bound_voucher"]) > _worth(*known[:3]):
            execute(insert, row | {"position": known[3]})
            done.replaced += 1
        else:
            done.kept += 1


def _worth(status: str, limit_hit: str | None, voucher: str | None) -> tuple[bool, bool, int]:
    """Rank a run against others under its key: finished, then by its bound."""
    return (
        status != "error",
        limit_hit != "interrupted",
        _VOUCHERS.index(voucher) if voucher in _VOUCHERS else 0,
    )


def _merge_instances(execute: Callable[..., Any], source: Store) -> None:
    columns = ("fingerprint", "problem", "name", "size", "features", "document")
    for row in source.query(f"SELECT {', '.join(columns)} FROM instances ORDER BY rowid"):
        if _is_whole(row, source, "instance"):
            execute("INSERT OR IGNORE INTO instances VALUES (?, ?, ?, ?, ?, ?)", [*row.values()])
    if next(source.query("SELECT 1 FROM sqlite_master WHERE name = 'origins'"), None):
        for row in source.query("SELECT fingerprint, name, origin FROM origins ORDER BY rowid"):
            if _is_whole(row, source, "origin"):
                execute("INSERT OR IGNORE INTO origins VALUES (?, ?, ?)", [*row.values()])
    execute(FILL)


def _is_whole(row: Row, source: Store, what: str) -> bool:
    """Return True if a row holds what its columns say; warn if it does not."""
    try:
        check_values(row)
    except ValueError as error:
        name = ascii(str(row.get("key", row.get("fingerprint"))))[1:13]
        logger.warning("%s: %s %s: cannot be read: %s; left out", source.path, what, name, error)
        return False
    return True
