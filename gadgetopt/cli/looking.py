"""The commands `list`, `show`, `info` and `schema`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadgetopt.cli.completion import names_to_show, system_names
from gadgetopt.cli.options import Json, Memory, ModelTime, Plugins, System, natural
from gadgetopt.cli.printing import echo
from gadgetopt.errors import InputError
from gadgetopt.system.result import Limits

if TYPE_CHECKING:
    from gadgetopt.runs.known import Known
    from gadgetopt.system.files import Document


def list_(
    system: Annotated[
        str | None,
        typer.Argument(
            metavar="[SYSTEM]",
            help="The parts of this system.",
            autocompletion=system_names,
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="With SYSTEM: all parts, with their parameters."),
    ] = False,
    plugin: Plugins = None,
    as_json: Json = False,
) -> None:
    """List the systems, or the parts of one."""
    from gadgetopt.cli.listing import described, print_list

    if not as_json:
        print_list(system, everything)
        return
    from gadgetopt.system.registry import problem, problems

    chosen = problems() if system is None else [problem(system)]
    echo(json.dumps([described(p) for p in chosen], indent=1, default=str))


def show(
    system: Annotated[
        str,
        typer.Argument(
            metavar="SYSTEM|FILE",
            help="Name of a system, see `list`; or an instance file, for its system and itself.",
            autocompletion=system_names,
        ),
    ],
    formulation: Annotated[
        str | None,
        typer.Argument(
            metavar="[FORMULATION]",
            help="A formulation, see `list SYSTEM`, or `algorithm` for that of the paper.",
            autocompletion=names_to_show,
        ),
    ] = None,
    instance: Annotated[
        Path | None,
        typer.Option(help="Instance for which to print size, features and the model written out."),
    ] = None,
    rows: Annotated[
        int,
        typer.Option(help="Rows written out per constraint.", parser=natural, metavar="INTEGER"),
    ] = 3,
    time_limit: ModelTime = 600.0,
    memory_mb: Memory = None,
    plugin: Plugins = None,
) -> int:
    """Show a problem, a part of it, or an instance file.

    `show SYSTEM algorithm` prints it step by step, as Python without any haste. `show FILE` prints
    name, size, features and origin of an instance. With a formulation the model of that instance
    is written out, by a process that ends within its limits of time and memory.
    """
    from gadgetopt.api.looking import names_file
    from gadgetopt.runs.engine.once import run_command

    asked = (system, formulation, instance, rows)
    if instance is None and not names_file(system):
        return show_here(*asked)
    limits, here = Limits(time_limit, 1, memory_mb), "gadgetopt.cli.looking:show_here"
    return run_command(here, asked, limits, "building the model", "not shown")


def show_here(system: str, formulation: str | None, instance: Path | None, rows: int) -> int:
    """Do the work of `show`, in the process that this is called in."""
    from gadgetopt.api.looking import show as shown

    echo(str(shown(system, formulation, instance, rows=rows)))
    return 0


def info(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Instance file.")],
    store: Annotated[
        Path | None, typer.Option("--store", help="SQLite file of runs: what it knows of it.")
    ] = None,
    time_limit: ModelTime = 600.0,
    memory_mb: Memory = None,
    plugin: Plugins = None,
    as_json: Json = False,
) -> int:
    """Print what an instance file is.

    Name, system, fingerprint, size, features and origin; with `--store`, also the best objective
    and the best dual bound that its runs found, and by which methods.
    """
    from gadgetopt.runs.engine.once import run_command

    limits, here = Limits(time_limit, 1, memory_mb), "gadgetopt.cli.looking:info_here"
    return run_command(here, (file, store, as_json), limits, "reading the instance", "not shown")


def info_here(file: Path, store: Path | None, as_json: bool) -> int:
    """Do the work of `info`, in the process that this is called in."""
    from gadgetopt.api.looking import show as shown
    from gadgetopt.runs.known import known
    from gadgetopt.runs.store import Store
    from gadgetopt.system.files import read_instance

    instance = read_instance(file)
    found = None
    if store is not None:
        with Store(store, create=False) as opened:
            found = known(opened, instance)
    if as_json:
        echo(json.dumps(_as_json(file, instance, found), indent=1, default=str))
        return 0
    first, *rest = str(shown(instance)).splitlines()
    for line in (first, f"fingerprint: {instance.fingerprint}", *rest):
        echo(line)
    if found is not None:
        for line in _known_lines(found, str(store)):
            echo(line)
    return 0


def _as_json(file: Path, instance: Document[Any], found: Known | None) -> dict[str, Any]:
    from gadgetopt.system.features import features_of

    system = instance.problem
    return {
        "file": str(file),
        "name": instance.name,
        "problem": system.name,
        "sense": instance.sense,
        "fingerprint": instance.fingerprint,
        "size": dict(system.size(instance.data)),
        "features": features_of(system, instance.data),
        "origin": dict(instance.origin),
        "known": None if found is None else found.as_json(),
    }


def _known_lines(found: Known, store: str) -> list[str]:
    """Return what a store knows of an instance, a fact a line."""
    from gadgetopt.numbers.text import show as number
    from gadgetopt.reporting.cells import counted
    from gadgetopt.trust.infeasibility import status_voucher

    if not found.runs:
        return [f"{store}: no run on this instance"]
    lines = [f"{store}: {counted(found.runs, 'run')} by {counted(found.methods, 'method')}"]
    if found.errors:
        lines[0] += f", {counted(found.errors, 'error')}"
    best, bound, verified, hopeless = found.best, found.bound, found.verified, found.infeasible
    if best is not None and best.objective is not None:
        state = ", optimal" if found.optimal else ""
        lines.append(f"best objective: {number(best.objective)}{state}, by {best.method}")
    if bound is not None and bound.bound is not None:
        lines.append(
            f"best dual bound: {number(bound.bound)}, {bound.bound_voucher}, by {bound.method}"
        )
    if verified is not None and verified.bound is not None:
        lines.append(f"best verified bound: {number(verified.bound)}, by {verified.method}")
    if hopeless is not None:
        why = f": {hopeless.why}" if hopeless.why else ""
        lines.append(f"no solution exists, {hopeless.voucher}, by {hopeless.method}{why}")
    if found.unbounded is not None:
        voucher = status_voucher(found.unbounded)
        lines.append(f"unbounded, {voucher}, by {found.unbounded.method}")
    return lines if len(lines) > 1 else [*lines, "neither a solution nor a bound is known"]


def schema(
    system: System,
    kind: Annotated[
        str | None, typer.Option(help="Only `instance`, `solution` or `certificate`; default all.")
    ] = None,
) -> None:
    """Print the JSON Schema of a system's files, or of a `record`."""
    from gadgetopt.system.registry import problem
    from gadgetopt.system.schema import file_schema

    if system == "record" and kind is None:
        from gadgetopt.records.schema import record_schema

        echo(json.dumps(record_schema(), indent=1))
        return
    declared = problem(system)
    kinds = ["instance", "solution"]
    if declared.certificate_type is not None:
        kinds.append("certificate")
    if kind is not None and kind not in kinds:
        raise InputError(f"--kind: {kind!r}, expected one of {', '.join(kinds)}")
    if kind is not None:
        echo(json.dumps(file_schema(declared, kind), indent=1))
        return
    echo(json.dumps({k: file_schema(declared, k) for k in kinds}, indent=1))
