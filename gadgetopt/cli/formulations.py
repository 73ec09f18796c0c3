"""The command `formulations`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadgetopt.cli import INTERRUPTED
from gadgetopt.cli.completion import formulation_names
from gadgetopt.cli.options import Json, Memory, Plugins, Seed, Threads, TimeLimit, limits
from gadgetopt.cli.printing import echo, say
from gadgetopt.reporting.words import quantity
from gadgetopt.system.result import Limits

if TYPE_CHECKING:
    from gadgetopt.system.declaration import Formulation
    from gadgetopt.system.files import Document

#: Seconds that the default method has for the optimum.
OPTIMUM_S = 10.0


def formulations(
    file: Annotated[Path, typer.Argument(metavar="INSTANCE", help="Instance file.")],
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--formulation",
            help="Only this one, repeatable; see `list SYSTEM`.",
            autocompletion=formulation_names,
        ),
    ] = None,
    solve: Annotated[
        bool, typer.Option("--solve", help="Solve each by each of its declared backends.")
    ] = False,
    time_limit: TimeLimit = 60.0,
    threads: Threads = 1,
    memory_mb: Memory = None,
    seed: Seed = 0,
    plugin: Plugins = None,
    as_json: Json = False,
) -> int:
    """Compare the formulations of an instance by size and bounds.

    With --solve also by root bound, nodes and time. A last line says the optimum, or what the
    system's default method finds of it in a few seconds. Each row ends within its limits; after
    Ctrl-C or SIGTERM those that are there are printed, and a line names the others.
    """
    from gadgetopt.reporting.formulations import chosen, columns
    from gadgetopt.system.files import read_instance

    instance = read_instance(file)
    given = limits(time_limit, threads, memory_mb, 0.0)
    found = chosen(instance.problem, names or ())
    rows, interrupted = _until_interrupted(_rows(file, instance, found, solve, given, seed))
    left = ", ".join(_labels(instance, found, solve)[len(rows) :])
    note = f"interrupted; not measured: {left}" if left else ""
    if as_json:
        full = [{key: row.get(key) for key in columns(solve)} for row in rows]
        if rows:
            echo(json.dumps(full, indent=1, allow_nan=False))
    elif rows:
        print_formulations(instance, rows, solved=solve)
    if note:
        say(note)
    if not as_json and not interrupted:
        interrupted = _print_optimum(instance, given, seed)
    return INTERRUPTED if interrupted else 0


def _until_interrupted(rows: Iterator[dict[str, Any]]) -> tuple[list[dict[str, Any]], bool]:
    """Return the rows that are there at Ctrl-C or at the end, and whether it was Ctrl-C."""
    done: list[dict[str, Any]] = []
    try:
        for row in rows:
            done.append(row)  # noqa: PERF402  (what is there must outlive Ctrl-C)
    except KeyboardInterrupt:
        return done, True
    return done, False


def _labels(instance: Document, found: Sequence[Formulation], solve: bool) -> list[str]:
    """Return the names of the rows to come."""
    from gadgetopt.reporting.formulations import calls

    if not solve:
        return [formulation.name for formulation in found]
    return [call.label for formulation in found for call in calls(instance.problem, formulation)]


def _rows(
    file: Path,
    instance: Document,
    found: Sequence[Formulation],
    solve: bool,
    given: Limits,
    seed: int,
) -> Iterator[dict[str, Any]]:
    """Measure one model after another, and solve each by each backend if that is asked for."""
    from gadgetopt.reporting.formulations import calls, solved_row
    from gadgetopt.runs.engine.once import Once
    from gadgetopt.runs.engine.waiting import said_while_waiting

    for formulation in found:
        with said_while_waiting(formulation.name, given.time_s):
            row = _model_row(file, formulation, given)
        if not solve:
            yield row
            continue
        for call in calls(instance.problem, formulation):
            once = Once(given.threads, says=False)
            with said_while_waiting(call.label, given.time_s):
                result = once.solve(instance, call, given, seed).result
            yield solved_row(row, result)
            if once.interrupted:
                raise KeyboardInterrupt


def _print_optimum(instance: Document, given: Limits, seed: int) -> bool:
    """Print what the system's default method finds of the optimum in a few seconds, if exact.

    Returns
    -------
    bool
        True if Ctrl-C has ended it.
    """
    from gadgetopt.reporting.views.values import exactly
    from gadgetopt.runs.engine.once import Once
    from gadgetopt.runs.engine.waiting import said_while_waiting
    from gadgetopt.system.methods import find_method

    call = find_method(instance.problem, instance.problem.default_method)
    if call.method.kind != "exact":
        return False
    time_s = min(OPTIMUM_S, given.time_s or OPTIMUM_S)
    once = Once(given.threads, says=False)
    with said_while_waiting(call.label, time_s):
        within = Limits(time_s, given.threads, given.memory_mb)
        result = once.solve(instance, call, within, seed).result
    parts = []
    if result.objective is not None:
        found = "optimum" if result.status == "optimal" else "best solution found"
        parts.append(f"{found} {exactly(result.objective)}")
    if result.bound is not None:
        parts.append(f"dual bound {exactly(result.bound)} ({result.bound_voucher})")
    by = f"by {call.label} in at most {time_s:g} s"
    echo(f"{', '.join(parts) or result.state}, {by}")
    return once.interrupted


def _model_row(file: Path, formulation: Formulation, given: Limits) -> dict[str, Any]:
    """Return the row of a model, which a process of its own builds and relaxes."""
    from gadgetopt.runs.engine.once import call_apart
    from gadgetopt.runs.engine.work import Failure
    from gadgetopt.search.alarm import default_grace_s

    time_s = None if given.time_s is None else given.time_s + default_grace_s(given.time_s)
    enforced = Limits(time_s, given.threads, given.memory_mb)
    asked = (file, formulation.name, given)
    answer = call_apart("gadgetopt.cli.formulations:print_model_row", asked, enforced)
    if isinstance(answer, Failure):
        took = f"took more than {time_s:g} s" if time_s is not None else ""
        return {
            "formulation": formulation.name,
            "strength": formulation.strength,
            "model_class": formulation.model_class,
            "note": took if answer.limit_hit == "time_s" else answer.reason,
        }
    row: dict[str, Any] = json.loads(answer.printed)
    return row


def print_model_row(file: Path, formulation: str, given: Limits) -> int:
    """Print the row of a model as JSON, in the process that this is called in."""
    from gadgetopt.reporting.formulations import model_row
    from gadgetopt.system.files import read_instance
    from gadgetopt.system.methods import find_formulation

    instance = read_instance(file)
    found = find_formulation(instance.problem, formulation)
    echo(json.dumps(model_row(instance, found, given), allow_nan=False))
    return 0


def print_formulations(instance: Document, rows: list[dict[str, Any]], *, solved: bool) -> None:
    """Print the table."""
    from rich import box
    from rich.table import Table

    from gadgetopt.cli.printing import console

    problem = instance.problem
    echo(f"{instance.name} ({problem.name}): {problem.verb} ", nl=False)
    echo(quantity(problem.objective))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    words = {
        "formulation": "formulation",
        "strength": "",
        "continuous": "cont.",
        "integer": "int.",
        "binary": "bin.",
        "rows": "rows",
        "nonzeros": "nonzeros",
        "lp_bound": "LP bound",
    }
    if solved:
        words |= {
            "backend": "solver",
            "root_bound": "root bound",
            "bound": "bound",
            "objective": "objective",
            "status": "status",
            "nodes": "nodes",
        }
        if any(row.get("branches") is not None for row in rows):
            words["branches"] = "branches"
        words["time_s"] = "time (s)"
    texts = ("formulation", "strength", "backend", "status")
    for key, head in words.items():
        side: Any = "left" if key in texts else "right"
        table.add_column(head, justify=side, overflow="fold", no_wrap=key == "formulation")
    for row in rows:
        table.add_row(*(_cell(row, key) for key in words))
    screen = console()
    screen.print(table)
    for line in _notes(rows):
        screen.print(line, style="dim", highlight=False, markup=False)


def _cell(row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    if key == "lp_bound" and row.get("nonlinear_rows"):
        return "not linear"
    if key == "strength" and value == "exact":
        return ""
    if key == "status" and row.get("limit_hit"):
        return f"{value}, {row['limit_hit']}"
    if value is None:
        return ""
    if key == "time_s":
        return f"{value:.2f}"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _notes(rows: list[dict[str, Any]]) -> list[str]:
    told: dict[str, None] = {}
    for row in rows:
        if row.get("note") and (
            row.get("status") in ("error", "not applicable") or not row.get("nonlinear_rows")
        ):
            backend = f"@{row['backend']}" if row.get("backend") else ""
            told[f"{row['formulation']}{backend}: {row['note']}"] = None
    return list(told)
