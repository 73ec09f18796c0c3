"""The commands `records list`, `show`, `check`, `submit`, `table` and `best`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadgetopt.cli.options import Json, Systems, check_outputs, count, names_of, natural, positive
from gadgetopt.cli.printing import echo, say
from gadgetopt.cli.verbosity import verbose
from gadgetopt.errors import InputError

if TYPE_CHECKING:
    from gadgetopt.records.record import Record
    from gadgetopt.records.shelf import Entry

Folder = Annotated[
    Path | None,
    typer.Option("--folder", help="Folder of records.  [default: those installed]"),
]
Chosen = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ENTRY]...",
        help="Files, folders, systems, SYSTEM/NAME, or patterns of these; default all.",
    ),
]

app: typer.Typer = typer.Typer(
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
@verbose
def records() -> None:
    """Best known results, each with its proof."""


def _entries(chosen: list[str] | None, folder: Path | None) -> list[Entry]:
    from gadgetopt.records.shelf import find_entries, read_entries

    return read_entries(find_entries(chosen or (), folder)[1])


def list_(
    chosen: Chosen = None,
    systems: Systems = None,
    status: Annotated[
        str | None,
        typer.Option(help="Only `open`, `closed` or `infeasible`.", metavar="STATUS"),
    ] = None,
    folder: Folder = None,
    as_json: Json = False,
) -> None:
    """List entries: objective, bound, gap, and since when."""
    from gadgetopt.records.table import in_order, row_of

    statuses = ("open", "closed", "infeasible")
    if status is not None and status not in statuses:
        raise InputError(f"--status: {status!r}, expected one of {', '.join(statuses)}")
    only = names_of(systems)
    entries = [
        entry
        for entry in _entries(chosen, folder)
        if (not only or entry.record.problem in only) and status in (None, entry.record.status)
    ]
    if as_json:
        echo(json.dumps([_as_json(entry.record) for entry in in_order(entries)], indent=1))
        return
    for entry in in_order(entries):
        row = row_of(entry.record)
        said = " ".join(x for x in (row["objective"], row["bound"]) if x)
        echo(f"{entry.label}  {row['gap']}  {said}  {row['since']}")
    still = sum(entry.record.status == "open" for entry in entries)
    echo(f"{len(entries)} entries, {still} open")


def _as_json(record: Record) -> dict[str, Any]:
    """Return an entry without its solution and proof."""
    return record.model_dump(mode="json", exclude={"solution", "certificate", "history"})


def show(
    name: Annotated[str, typer.Argument(metavar="ENTRY", help="File or SYSTEM/NAME.")],
    instance: Annotated[
        Path | None, typer.Option("--instance", help="Write the instance to this file.")
    ] = None,
    solution: Annotated[
        Path | None, typer.Option("--solution", help="Write the best solution to this file.")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option("--certificate", help="Write the proof to this file.")
    ] = None,
    folder: Folder = None,
    as_json: Json = False,
) -> None:
    """Show an entry: what is known, who found it, and how it came so far."""
    from gadgetopt.records.parts import write_parts

    entries = _entries([name], folder)
    if len(entries) > 1:
        raise InputError(f"{name}: fits {len(entries)} entries, expected one")
    check_outputs(instance, solution, certificate, read=entries[0].path)
    write_parts(entries[0], instance, solution, certificate)
    record = entries[0].record
    if as_json:
        echo(json.dumps(record.model_dump(mode="json"), indent=1))
        return
    for line in lines_of(entries[0]):
        echo(line)


def lines_of(entry: Entry) -> list[str]:
    """Return what an entry says, a fact a line."""
    from gadgetopt.records.table import row_of

    record, row = entry.record, row_of(entry.record)
    lines = [
        f"{entry.label}: {record.status}",
        f"sizes: {row['sizes']}",
        f"best objective: {row['objective'] or 'none'} ({record.sense})",
        f"best proved bound: {row['bound'] or 'none'}",
    ]
    if record.status == "open":
        lines.append(f"gap: {row['gap']}")
    lines += [f"source: {record.source}", f"reference: {record.reference}"]
    for step in record.history:
        seed = "" if step.seed is None else f", seed {step.seed}"
        time = "" if step.time_s is None else f", {step.time_s:g} s"
        run = f"{step.method}{seed}{time}, {step.version}"
        lines.append(f"{step.date} {step.what} {step.value}: {run}; claimed by {step.by}")
    return lines


def check(
    chosen: Chosen = None,
    folder: Folder = None,
    workers: Annotated[
        int, typer.Option("--workers", help="Processes.", parser=count, metavar="INTEGER")
    ] = 2,
    seconds: Annotated[
        float,
        typer.Option("--time-limit", help="Seconds for an entry.", parser=positive, metavar="S"),
    ] = 120.0,
    repeat: Annotated[
        bool,
        typer.Option("--repeat", help="Do the run that found each solution again, too."),
    ] = False,
    as_json: Json = False,
) -> int:
    """Check entries: draw, evaluate and prove everything again, without a solver.

    A line for each entry that is refused, and why; the exit code is then 1.
    """
    from gadgetopt.records.checked_all import check as checked

    verdicts = checked(
        chosen or (),
        folder=folder,
        workers=workers,
        seconds=seconds,
        repeat=repeat,
        on_verdict=lambda v: None if as_json else _print_lines(v.lines),
    )
    refused = sum(bool(v.faults) for v in verdicts)
    if as_json:
        rows = [
            {"entry": str(v.path), "status": v.status, "faults": [str(f) for f in v.faults]}
            for v in verdicts
        ]
        echo(json.dumps(rows, indent=1))
    else:
        closed = sum(v.status in ("closed", "infeasible") and not v.faults for v in verdicts)
        echo(f"{len(verdicts)} entries checked, {refused} refused, {closed} closed")
    return int(refused > 0)


def _print_lines(lines: list[str]) -> None:
    for line in lines:
        echo(line)


def submit(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="Stores of runs; or an instance, with solutions and certificates of it.",
        ),
    ],
    by: Annotated[str | None, typer.Option(help="Who found it.", metavar="NAME")] = None,
    method: Annotated[
        str, typer.Option(help="Of files: what found it.", metavar="NAME")
    ] = "unknown",
    version: Annotated[
        str, typer.Option(help="Of files: the version of what found it.", metavar="TEXT")
    ] = "",
    seed: Annotated[
        int | None, typer.Option(help="Of files: the seed.", parser=natural, metavar="INTEGER")
    ] = None,
    new: Annotated[
        bool, typer.Option("--new", help="Make entries for instances that have none.")
    ] = False,
    folder: Folder = None,
) -> int:
    """Take over what is better than the records, with proof, and nothing else.

    The exit code is 1 if something was refused.
    """
    from gadgetopt.records.submission import US
    from gadgetopt.records.submission import submit as submitted

    done = submitted(
        paths,
        folder=folder,
        by=US if by is None else by,
        method=method,
        version=version,
        seed=seed,
        new=new,
        tell=echo,
    )
    echo(
        f"{done.added} added, {done.improved} improved, {done.kept} no better, "
        f"{len(done.refused)} refused"
    )
    if done.unknown:
        say(f"{done.unknown} instances have no entry; --new makes some")
    return int(bool(done.refused))


def table(
    chosen: Chosen = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write to this file.")] = None,
    folder: Folder = None,
) -> None:
    """Print the page of all entries as Markdown: open ones first, gaps, and since when."""
    from gadgetopt.records.table import page
    from gadgetopt.system.output import write_text

    text = page(_entries(chosen, folder))
    if out is None:
        echo(text, nl=False)
    else:
        write_text(out, text)


def best(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Instance file.")],
    folder: Folder = None,
    as_json: Json = False,
) -> int:
    """Print what the records know of an instance, whatever it is called.

    The exit code is 1 if they do not know it.
    """
    from gadgetopt.records.known import best as found
    from gadgetopt.system.files import read_instance

    entry = found(read_instance(file), folder)
    if as_json:
        echo(json.dumps(None if entry is None else _as_json(entry.record), indent=1))
    elif entry is None:
        echo(f"{file}: has no entry in the records")
    else:
        for line in lines_of(entry):
            echo(line)
    return int(entry is None)


_COMMANDS: dict[str, Callable[..., Any]] = {
    "list": list_,
    "show": show,
    "check": check,
    "submit": submit,
    "table": table,
    "best": best,
}
for _name, _command in _COMMANDS.items():
    app.command(_name)(verbose(_command))
