"""What `list` prints: the systems, or of one the short list, which fits a screen, or all of it.

Methods are grouped by the rooms of a system, the paper's first: algorithms, baselines,
formulations, guarantees; then ours: heuristics, and what proves optima and bounds.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gadgetopt.cli.printing import echo
from gadgetopt.reporting.words import quantity

if TYPE_CHECKING:
    from gadgetopt.system.declaration import Guarantee, Method, Part, Problem

#: The rooms of methods in the order of the list; those of no room are `methods`.
ROOMS = ("algorithms", "baselines", "formulations", "guarantees", "heuristics", "proving")
ELSEWHERE = "methods"

#: Rooms of which the short list says every method in a line of its own.
_IN_FULL = ("algorithms", "baselines", ELSEWHERE)

#: Lines of a citation in the short list. By definition.
MOST_CITED = 2

#: The other parts of a system, in the order of the list.
_DATA = ("generators", "importers", "exporters", "trainers", "pictures")

#: Columns of the short list where the output is no terminal; names alone are wrapped there.
_COLUMNS = 100

#: Least columns of a terminal.
_LEAST_COLUMNS = 80

#: Width of the list of systems, whose titles fit; a third party's may not.
_TITLES = 100

#: What `list SYSTEM` says of pairs that are not declared.
_OTHER_BACKENDS = (
    "NAME@scip, @gurobi, @cplex, @xpress, @cbc, @glpk, and ILPs @cpsat; where installed, "
    "see docs/solvers.md"
)


def room_of(part: Part) -> str:
    """Return the group of the list that a method is in; models of ours are among the models."""
    room = part.room.partition("/")[0]
    if part.room == "proving/formulations":
        room = "formulations"
    return room if room in ROOMS else ELSEWHERE


def print_list(system: str | None, everything: bool = False) -> None:
    """Print the list of the systems, or that of one."""
    from gadgetopt.system.registry import problem, problems

    if system is None:  # without a look at the parts, which are many files
        lines = _titles(problems())
    else:
        lines = (long_list if everything else short_list)(problem(system))
    for line in lines:
        echo(line)


def _titles(chosen: list[Problem]) -> Iterator[str]:
    width = max((len(p.name) for p in chosen), default=0)
    for p in chosen:
        sense = "any" if callable(p.sense) else p.sense
        line = f"{p.name:<{width}}  {sense}  {p.title}"
        yield line if len(line) <= _TITLES else f"{line[: _TITLES - 1]}…"
    yield "\n`gadgetopt list SYSTEM` lists its formulations, methods and other parts."


# -- the short list --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Row:
    """A part in a line of its own; `marked` if it runs by default."""

    name: str
    text: str
    marked: bool = False


def short_list(p: Problem) -> Iterator[str]:
    """Yield a system's list in few lines.

    A method of the paper, an exact formulation, a theorem, what runs by default and what is added
    to the system has a line of its own; of all else the names are said.
    """
    columns = _terminal_columns()
    yield _cut(f"{p.name}: {p.title}", columns)
    cited = _filled(_citation(p), "  ", columns)
    if len(cited) > MOST_CITED:  # the long list has the DOI
        cited = _filled(_citation(p, ids=False), "  ", columns)
    yield from cited
    yield f"  {p.verb} {quantity(p.objective)}"
    groups = list(_groups(p))
    left = max((len(name) for name, _, _ in groups), default=0)
    middle = max((len(row.name) for _, rows, _ in groups for row in rows), default=0)
    for title, rows, names in groups:
        for row in rows:
            mark = "*" if row.marked else " "
            line = f"  {title:<{left}} {mark} {row.name:<{middle}}  {row.text}"
            yield _cut(line, columns)
            title = ""  # noqa: PLW2901 (said once)
        if names:
            indent = f"  {title:<{left}}   "
            also = "and " if rows else ""
            yield from _filled(also + ", ".join(names), indent, columns)
    solved = f"; solve runs {p.default_method}" if p.default_method else ""
    yield from _filled(f"* compared by default{solved}; --all adds the rest", "  ", columns)


def _groups(p: Problem) -> Iterator[tuple[str, list[_Row], list[str]]]:
    """Yield the groups of the short list that have anything: rows, and names of the others."""
    defaults = {name.partition(":")[0] for name in (*p.default_methods, p.default_method)}
    for room in (*ROOMS, ELSEWHERE):
        rows: list[_Row] = []
        names: list[str] = []
        if room == "formulations":
            for f in p.formulations:
                if f.strength == "exact" or f.origin:
                    rows.append(_formulation_row(f, defaults))
                else:
                    names.append(f.name)
        if room == "guarantees":
            rows += _theorem_rows(p)
        for m in p.methods:
            if room_of(m) == room:
                if room in _IN_FULL or m.name in defaults or m.origin:
                    rows.append(_Row(m.name, _line(_method(m)), m.name in defaults))
                else:
                    names.append(m.name)
        if rows or names:
            yield room, rows, names
    for kind in _DATA:
        parts = getattr(p, kind)
        if parts:
            yield kind, [], [_named(part) for part in parts]


def _formulation_row(f: Any, defaults: set[str]) -> _Row:
    pairs = [f"{f.name}@{backend}" for backend in f.backends]
    tags = ", ".join([f.model_class, f.strength, *_origin(f).values()])
    by = " or ".join(f"@{backend}" for backend in f.backends)
    return _Row(f.name, f"[{tags}; {by}] {f.summary}", not defaults.isdisjoint(pairs))


def _theorem_rows(p: Problem) -> Iterator[_Row]:
    """Yield each theorem once, however many its assumptions and methods."""
    rows = (_Row(g.name, _line(_guarantee(g))) for g in p.guarantees)
    yield from dict.fromkeys(rows)


def _named(part: Any) -> str:
    """Return the name of a part of the data, and where it comes from."""
    name = getattr(part, "name", None) or part.format
    return f"{name} ({part.origin.label})" if part.origin else str(name)


def _terminal_columns() -> int | None:
    """Return the width of the terminal; None if the output is none, where lines are not cut."""
    if not sys.stdout.isatty():
        return None
    return max(shutil.get_terminal_size().columns, _LEAST_COLUMNS)


def _cut(line: str, columns: int | None) -> str:
    return line if columns is None or len(line) <= columns else f"{line[: columns - 1]}…"


def _filled(text: str, indent: str, columns: int | None) -> list[str]:
    """Return a text in lines that begin below the end of the indent."""
    return textwrap.wrap(
        text,
        columns or _COLUMNS,
        initial_indent=indent,
        subsequent_indent=" " * len(indent),
        break_on_hyphens=False,
        break_long_words=False,
    )


# -- all of it -------------------------------------------------------------------------------------


def long_list(p: Problem) -> Iterator[str]:
    """Yield all parts of a system with their parameters."""
    parts = described(p)
    yield f"{p.name}: {p.title}\n  {parts['citation']}"
    yield f"  {p.verb} {quantity(p.objective)}"
    for title, entries in _sections(parts):
        if entries:
            yield f"  {title}"
        yield from _section(entries)
        if title == "formulations" and p.formulations:
            yield f"  further backends of formulations, by name: {_OTHER_BACKENDS}"


def _sections(parts: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the titles and parts of the long list, the paper's first."""
    for room in (*ROOMS, ELSEWHERE):
        declared = parts[room] if room in ("formulations", "guarantees") else []
        yield room, [*declared, *(m for m in parts["methods"] if m["room"] == room)]
    for kind in (*_DATA, "features"):
        yield kind, parts[kind]


def _section(entries: list[dict[str, Any]]) -> Iterator[str]:
    width = max((len(entry["name"]) for entry in entries), default=0)
    indent = " " * (4 + width + 2)
    last = None
    for entry in entries:
        line = f"    {entry['name']:<{width}}  {_line(entry)}"
        if line != last:  # a theorem under several assumptions is said once
            yield _wrapped(line, indent)
        last = line
        for more in _more(entry):
            yield _wrapped(indent + more, indent + "  ")


def _wrapped(line: str, indent: str) -> str:
    """Return a line in several, if a terminal is narrower; a pipe keeps it, to be searched."""
    if not sys.stdout.isatty():
        return line
    columns = max(shutil.get_terminal_size().columns, len(indent) + 20)
    return textwrap.fill(line, columns, subsequent_indent=indent, break_on_hyphens=False)


# -- parts as data ---------------------------------------------------------------------------------


def described(p: Problem) -> dict[str, Any]:
    """Return all that `list` says of a system, as `--json` prints it."""
    from gadgetopt.system.features import described as described_features
    from gadgetopt.system.methods import methods

    return {
        "name": p.name,
        "title": p.title,
        "citation": _citation(p),
        "sense": None if callable(p.sense) else p.sense,
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
        "methods": [_method(m) for m in methods(p)],
        "guarantees": [_guarantee(g) for g in p.guarantees],
        "generators": [
            {
                "name": g.name,
                "summary": g.summary,
                "parameters": dict(g.parameters),
                "choices": dict(g.choices),
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
                "choices": dict(i.choices),
                "help": dict(i.help),
                **_origin(i),
            }
            for i in p.importers
        ],
        "exporters": [
            {
                "name": e.format,
                "summary": e.summary,
                "drops": e.drops,
                "parameters": dict(e.parameters),
                "choices": dict(e.choices),
                "help": dict(e.help),
                **_origin(e),
            }
            for e in p.exporters
        ],
        "features": [
            {"name": name, "summary": meaning} for name, meaning in described_features(p).items()
        ],
    }


def _citation(p: Problem, *, ids: bool = True) -> str:
    c = p.citation
    found = (c.doi and f"doi {c.doi}", c.arxiv and f"arXiv {c.arxiv}") if ids else ()
    where = ", ".join(x for x in (c.venue, str(c.year), *found) if x)
    return f"{c.authors}, {c.title}, {where}"


def _method(m: Method) -> dict[str, Any]:
    return {
        "name": m.name,
        "room": "formulations" if "@" in m.name else room_of(m),
        "kind": m.kind,
        "summary": m.summary,
        "reference": m.reference,
        "stochastic": m.stochastic,
        "parameters": dict(m.parameters),
        "choices": dict(m.choices),
        **_origin(m),
    }


def _guarantee(g: Guarantee) -> dict[str, Any]:
    return {
        "name": g.name,
        "standing": g.standing,
        "summary": g.statement,
        "reference": g.reference,
        "methods": list(g.methods),
        "assumptions": [a.text for a in g.assumptions],
        **_origin(g),
    }


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
    lines = [f"without {entry['drops']}"] if entry.get("drops") else []
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
