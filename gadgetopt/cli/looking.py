"""The commands `list`, `show` and `schema`."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadgetopt.cli.completion import names_to_show, system_names
from gadgetopt.cli.options import Json, Memory, ModelTime, Plugins, System, natural
from gadgetopt.cli.printing import echo
from gadgetopt.errors import InputError
from gadgetopt.reporting.words import quantity
from gadgetopt.system.result import Limits

if TYPE_CHECKING:
    from gadgetopt.system.declaration import Part, Problem

#: The parts of a system that `list` prints, in order.
_PARTS = (
    "formulations",
    "methods",
    "guarantees",
    "generators",
    "importers",
    "trainers",
    "pictures",
)


#: Width of the list of systems, whose titles fit; a third party's may not.
_COLUMNS = 100

#: What `list SYSTEM` says of pairs that are not declared.
_OTHER_BACKENDS = (
    "NAME@scip, @gurobi, @cplex, @xpress, @cbc, @glpk, and ILPs @cpsat; where installed, "
    "see docs/solvers.md"
)


def list_(
    system: Annotated[
        str | None,
        typer.Argument(
            metavar="[SYSTEM]",
            help="Show everything about this system.",
            autocompletion=system_names,
        ),
    ] = None,
    plugin: Plugins = None,
    as_json: Json = False,
) -> None:
    """List the systems, or everything that one system has."""
    from gadgetopt.system.registry import problem, problems

    chosen = problems() if system is None else [problem(system)]
    if as_json:
        echo(json.dumps([_described(p) for p in chosen], indent=1, default=str))
    elif system is None:  # without a look at the parts, which are many files
        width = max((len(p.name) for p in chosen), default=0)
        for p in chosen:
            line = f"{p.name:<{width}}  {p.sense}  {p.title}"
            echo(line if len(line) <= _COLUMNS else f"{line[: _COLUMNS - 1]}…")
        echo("\n`gadgetopt list SYSTEM` lists its formulations, methods and other parts.")
    else:
        _list_one(_described(chosen[0]))


def _list_one(p: dict[str, Any]) -> None:
    echo(f"{p['name']}: {p['title']}\n  {p['citation']}")
    echo(f"  {p['sense']}imise {quantity(p['objective'])}")
    for part in _PARTS:
        if p[part]:
            echo(f"  {part}")
        width = max((len(entry["name"]) for entry in p[part]), default=0)
        indent = " " * (4 + width + 2)
        last = None
        for entry in p[part]:
            line = f"    {entry['name']:<{width}}  {_line(entry)}"
            if line != last:  # a theorem under several assumptions is said once
                echo(_wrapped(line, indent))
            last = line
            for more in _more(entry):
                echo(_wrapped(indent + more, indent + "  "))
        if part == "methods" and p["formulations"]:
            echo(f"  further backends of formulations, by name: {_OTHER_BACKENDS}")


def _wrapped(line: str, indent: str) -> str:
    """Return a line in several, if a terminal is narrower; a pipe keeps it, to be searched."""
    if not sys.stdout.isatty():
        return line
    columns = max(shutil.get_terminal_size().columns, len(indent) + 20)
    return textwrap.fill(line, columns, subsequent_indent=indent, break_on_hyphens=False)


def show(
    system: System,
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
    """Show a problem, formulation, model or algorithm on paper.

    `show SYSTEM algorithm` prints it step by step, as Python without any haste. With --instance
    the model of that instance is written out, by a process that ends within its limits of time and
    memory.
    """
    from gadgetopt.runs.engine.once import run_command

    asked = (system, formulation, instance, rows)
    if instance is None:
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


def _described(p: Problem) -> dict[str, Any]:
    from gadgetopt.system.methods import methods

    c = p.citation
    where = ", ".join(
        x
        for x in (c.venue, str(c.year), c.doi and f"doi {c.doi}", c.arxiv and f"arXiv {c.arxiv}")
        if x
    )
    return {
        "name": p.name,
        "title": p.title,
        "citation": f"{c.authors}, {c.title}, {where}",
        "sense": p.sense,
        "objective": p.objective,
        "formulations": [
            {
                "name": f.name,
                "class": f.model_class,
                "strength": f.strength,
                "equations": f.equations,
                "backends": list(f.backends),
                "summary": f.summary,
                **_origin(f),
            }
            for f in p.formulations
        ],
        "methods": [
            {
                "name": m.name,
                "kind": m.kind,
                "summary": m.summary,
                "reference": m.reference,
                "stochastic": m.stochastic,
                "parameters": dict(m.parameters),
                "choices": dict(m.choices),
                **_origin(m),
            }
            for m in methods(p)
        ],
        "guarantees": [
            {
                "name": g.name,
                "standing": g.standing,
                "summary": g.statement,
                "reference": g.reference,
                "methods": list(g.methods),
                "assumptions": [a.text for a in g.assumptions],
                **_origin(g),
            }
            for g in p.guarantees
        ],
        "generators": [
            {
                "name": g.name,
                "summary": g.summary,
                "parameters": dict(g.parameters),
                "choices": _literals(g.generate),
                **_origin(g),
            }
            for g in p.generators
        ],
        "pictures": [
            {
                "name": picture.name,
                "summary": f"{picture.summary} (of the {picture.of})",
                **_origin(picture),
            }
            for picture in p.pictures
        ],
        "trainers": [
            {
                "name": t.name,
                "summary": t.summary,
                "parameters": dict(t.parameters),
                "presets": {name: dict(changed) for name, changed in t.presets.items()},
                "methods": list(t.methods),
                **_origin(t),
            }
            for t in p.trainers
        ],
        "importers": [
            {
                "name": i.format,
                "summary": i.summary,
                "parameters": dict(i.parameters),
                "choices": _literals(i.read),
                "help": dict(i.help),
                **_origin(i),
            }
            for i in p.importers
        ],
    }


def _literals(function: Any) -> dict[str, tuple[str, ...]]:
    """Return the values of each parameter whose type lists them; none of an unknown signature."""
    from contextlib import suppress
    from types import SimpleNamespace
    from typing import Literal, get_args, get_origin, get_type_hints

    from gadgetopt.system.declaration import resolved

    found = resolved(function)
    choices = {}
    for name, hint in getattr(found, "__annotations__", {}).items():
        with suppress(NameError):  # a name that only a type checker imports
            alone = SimpleNamespace(__annotations__={name: hint})
            meant = get_type_hints(alone, found.__globals__)[name]
            if get_origin(meant) is Literal:
                choices[name] = tuple(map(str, get_args(meant)))
    return choices


def _origin(part: Part) -> dict[str, str]:
    """Return where a part comes from, if it is not the system's own."""
    return {} if part.origin is None else {"origin": part.origin.label}


def _line(entry: dict[str, Any]) -> str:
    kept = ("class", "strength", "kind", "standing", "origin")
    labels = (entry.get(key) for key in kept)
    tags = ", ".join(label for label in labels if label)
    return f"[{tags}] {entry['summary']}" if tags else str(entry["summary"])


def _more(entry: dict[str, Any]) -> list[str]:
    """Return further lines about a part: the methods of a theorem, parameters."""
    lines = []
    if "assumptions" in entry:
        lines.append(f"of {', '.join(entry['methods'])}")
        lines += [f"if {assumption}" for assumption in entry["assumptions"]]
    if entry.get("parameters"):
        choices = entry.get("choices", {})
        pairs = (
            f"{k}={_shown(v)}" + (f" ({' or '.join(choices[k])})" if k in choices else "")
            for k, v in entry["parameters"].items()
        )
        lines.append(f"parameters: {', '.join(pairs)}")
    for preset, changed in entry.get("presets", {}).items():
        pairs = (f"{k}={_shown(v)}" for k, v in changed.items())
        lines.append(f"preset {preset}: {', '.join(pairs) or 'the defaults'}")
    return lines + [f"{name}: {text}" for name, text in entry.get("help", {}).items()]


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
