"""The commands `certify`, `status`, `delete` and `merge`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from gadgetopt.cli.options import (
    Instances,
    Json,
    Memory,
    Methods,
    Plugins,
    Systems,
    budget,
    names_of,
    positive,
)
from gadgetopt.cli.printing import echo
from gadgetopt.errors import InputError

StorePath = Annotated[Path, typer.Argument(metavar="STORE", help="SQLite file of runs.")]


def certify(
    store: StorePath,
    within: Annotated[
        str,
        typer.Option(
            "--budget",
            help="Seconds for each run, or a multiple of its time.",
            parser=budget,
            metavar="S|10x",
        ),
    ] = "10x",
    systems: Systems = None,
    methods: Methods = None,
    instances: Instances = None,
    memory_mb: Memory = None,
    plugin: Plugins = None,
) -> int:
    """Prove the bounds of a store that are only a solver's word.

    Each run keeps what could be proved. A search that exceeds its time or memory is stopped; Ctrl-C
    or SIGTERM ends the command within seconds, without losing what was proved. The exit code is 1
    if bounds were tried and nothing was proved.
    """
    from gadgetopt.cli import INTERRUPTED
    from gadgetopt.runs.certifying import certify_store

    chosen = names_of(systems), names_of(methods), names_of(instances)
    counts = certify_store(store, within, *chosen, memory_mb=memory_mb, tell=echo)
    echo(
        f"{store}: {counts.verified} of {counts.runs} bounds verified now, "
        f"{counts.partly} proved in part"
    )
    if counts.failed:
        echo(f"{counts.failed} of {counts.runs} searches failed by an unexpected error")
    nothing = counts.runs > 0 and not (counts.verified or counts.partly)
    return INTERRUPTED if counts.interrupted else int(nothing or counts.failed > 0)


def status(store: StorePath, as_json: Json = False) -> None:
    """Print what a store contains: runs, errors, stale results."""
    from gadgetopt.runs import upkeep
    from gadgetopt.runs.store import Store

    with Store(store, create=False) as runs, runs.snapshot():
        found = upkeep.status(runs)
    if as_json:
        echo(json.dumps(found, indent=1))
        return
    echo(
        f"{found['store']}: {_runs(found['runs'])} of {found['instances']} instances, "
        f"{found['bytes'] / 1e6:.1f} MB"
    )
    if not found["runs"]:
        return
    made = ", ".join(f"{count} by gadgetopt {v}" for v, count in found["versions"].items())
    echo(f"made from {_minute(found['first'])} to {_minute(found['last'])} UTC: {made}")
    if found["running"]:
        echo(f"{_runs(found['running'])} being done now")
    if found["stale"]:
        echo(f"{found['stale']} stale: made by other or unknown code, `compare` does them again")
    _print_methods(found["methods"])
    for m in found["methods"]:
        if m["renamed"]:
            echo(f"{m['system']}: {m['renamed']}")


def _print_methods(methods: list[dict[str, Any]]) -> None:
    from gadgetopt.cli.comparing import print_rows

    print_rows(
        [
            {
                "system": m["system"],
                "method": m["method"],
                "instances": m["instances"],
                "runs": m["runs"],
                "statuses": ", ".join(f"{n} {s}" for s, n in m["statuses"].items()),
                "limits_hit": m["limits_hit"],
                "stale": m["stale"],
                "last": _minute(m["last"]),
            }
            for m in methods
        ]
    )


def delete(
    store: StorePath,
    systems: Systems = None,
    methods: Methods = None,
    instances: Instances = None,
    statuses: Annotated[
        str | None,
        typer.Option("--status", help="error, not_applicable, feasible, ...", metavar="NAME,..."),
    ] = None,
    older_than: Annotated[
        float | None,
        typer.Option(help="Only runs older than this.", parser=positive, metavar="DAYS"),
    ] = None,
    stale: Annotated[
        bool, typer.Option("--stale", help="Only runs made by other or unknown code.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete the runs of a store that match all filters."""
    from gadgetopt.runs import upkeep
    from gadgetopt.runs.store import Store

    texts = (systems, methods, instances, statuses)
    if not (any(texts) or older_than or stale):
        raise InputError("delete: no filter; --instances '*' deletes all runs")
    with Store(store, create=False) as runs:
        known = upkeep.facts(runs)
    chosen = [names_of(text) for text in texts]
    doomed = upkeep.selected(known, chosen[0], chosen[1], chosen[2], chosen[3], older_than, stale)
    if not doomed:
        echo(f"0 of {_runs(len(known))} fit; nothing is deleted")
        return
    what = f"{len(doomed)} of {_runs(len(known))} in {store}"
    if not yes:
        if not sys.stdin.isatty():
            raise InputError(f"delete: {what}: --yes deletes them")
        if not typer.confirm(f"delete {what}?"):
            echo("nothing is deleted")
            return
    before = upkeep.file_bytes(store)
    with Store(store) as runs:
        deleted = upkeep.delete(runs, doomed)
        compact = upkeep.compact(runs)
    after = upkeep.file_bytes(store)
    space = f"{before / 1e6:.1f} MB before, {after / 1e6:.1f} MB now"
    if not compact:
        space = "the file keeps its size while others use it"
    echo(f"deleted {_runs(deleted)}; {len(known) - deleted} left in {store}; {space}")
    if deleted < len(doomed):
        echo(f"{_runs(len(doomed) - deleted)} kept: done again in the meantime")


def merge(
    stores: Annotated[list[Path], typer.Argument(metavar="STORE...", help="SQLite files of runs.")],
    into: Annotated[Path, typer.Option(help="Store that takes their runs; made if missing.")],
    as_json: Json = False,
) -> None:
    """Write the runs of several stores into one."""
    from contextlib import ExitStack
    from dataclasses import asdict

    from gadgetopt.runs.merging import merge as merged
    from gadgetopt.runs.store import Store

    if any(path.resolve() == into.resolve() for path in stores):
        raise InputError(f"merge: {into}: is also one of the stores to read")
    with ExitStack() as stack:
        sources = [stack.enter_context(Store(path, create=False)) for path in stores]
        with Store(into) as store:
            done = merged(store, sources)
    if as_json:
        echo(json.dumps({"store": str(into), **asdict(done)}, indent=1))
        return
    echo(f"{into}: {_runs(done.added)} added, {done.replaced} replaced, {done.kept} known before")
    if done.damaged:
        echo(f"{_runs(done.damaged)} left out: cannot be read")


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"
