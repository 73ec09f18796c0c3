"""The commands `list`, `show` and `schema`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gadgetopt.cli.completion import names_to_show, system_names
from gadgetopt.cli.options import Json, Memory, ModelTime, Plugins, System, natural
from gadgetopt.cli.printing import echo
from gadgetopt.errors import InputError
from gadgetopt.system.result import Limits

#: Width of the list of systems, whose titles fit; a third party's may not.
_COLUMNS = 100


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
    from gadgetopt.system.registry import problem, problems

    chosen = problems() if system is None else [problem(system)]
    if as_json:
        from gadgetopt.cli.listing import described

        echo(json.dumps([described(p) for p in chosen], indent=1, default=str))
    elif system is None:  # without a look at the parts, which are many files
        width = max((len(p.name) for p in chosen), default=0)
        for p in chosen:
            sense = "any" if callable(p.sense) else p.sense
            line = f"{p.name:<{width}}  {sense}  {p.title}"
            echo(line if len(line) <= _COLUMNS else f"{line[: _COLUMNS - 1]}…")
        echo("\n`gadgetopt list SYSTEM` lists its formulations, methods and other parts.")
    else:
        from gadgetopt.cli.listing import long_list, short_list

        for line in (long_list if everything else short_list)(chosen[0]):
            echo(line)


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


def schema(
    system: System,
    kind: Annotated[
        str | None, typer.Option(help="Only `instance`, `solution` or `certificate`; default all.")
    ] = None,
) -> None:
    """Print the JSON Schema of a system's files."""
    from gadgetopt.system.registry import problem
    from gadgetopt.system.schema import file_schema

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
