"""What the shell offers after a tab: systems, methods, presets and other names.

Where nothing is offered the shell completes names of files. A completion never fails: half a
command line is no mistake.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from gadgetopt.system.declaration import Problem

#: Parameters of commands that are files of instances.
_FILES = ("file", "instance", "paths", "source")


def system_names(start: str) -> list[str]:
    """Return the systems whose name begins with a text."""
    from gadgetopt.system.registry import problem_names

    return [name for name in problem_names() if name.startswith(start)]


def import_formats(start: str) -> list[str]:
    """Return the formats that some system imports, and that of a table for any."""
    return _beginning(start, ("table", *(i.format for p in _all() for i in p.importers)))


def _completes(names: Callable[[Problem], Iterable[str]]) -> Callable[..., list[str]]:
    """Return the completion by names of the system that the command line is about."""

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        with suppress(Exception):
            return _beginning(incomplete, (n for p in _systems(context) for n in names(p)))
        return []

    return complete


def _method_names(system: Problem) -> list[str]:
    from gadgetopt.system.methods import methods

    return [method.name for method in methods(system)]


preset_names = _completes(lambda p: [g.name for g in p.generators])
formulation_names = _completes(lambda p: [f.name for f in p.formulations])
names_to_show = _completes(lambda p: [*(f.name for f in p.formulations), "algorithm"])
method_names = _completes(_method_names)
exporter_names = _completes(lambda p: [e.format for e in p.exporters])
export_formats = _completes(
    lambda p: ["mps", "lp", "nl", "cpsat", "exact", "vipr", *(e.format for e in p.exporters)]
)
picture_names = _completes(lambda p: [picture.name for picture in p.pictures])
trainer_names = _completes(lambda p: [t.name for t in p.trainers])


def method_lists(context: typer.Context, incomplete: str) -> list[str]:
    """Return completions of the last of several methods separated by commas."""
    before, comma, last = incomplete.rpartition(",")
    words = [w for w in ("default", "all", "exact", "baseline", "heuristic") if w.startswith(last)]
    return [f"{before}{comma}{name}" for name in [*method_names(context, last), *words]]


def _systems(context: typer.Context) -> list[Problem]:
    """Return the system that is named, or that of the instance; else all."""
    from gadgetopt.system.reading import read_text
    from gadgetopt.system.registry import problem, problem_names

    # Arguments before an option without its value are not parsed yet.
    given = [context.params.get(key) for key in ("system", *_FILES)]
    words = [w for v in given for w in (v if isinstance(v, list | tuple) else [v]) if w]
    known = problem_names()
    for word in map(str, [*words, *context.args]):
        if word in known:
            return [problem(word)]
        with suppress(OSError, ValueError, LookupError):
            return [problem(json.loads(read_text(Path(word)))["problem"])]
    return _all()


def _all() -> list[Problem]:
    from gadgetopt.system.registry import problems

    return list(problems())


def _beginning(start: str, names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name for name in names if name.startswith(start)))
