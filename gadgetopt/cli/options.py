"""Options that several commands share, and parsers of numbers with their error messages.

Of commands that take parameters, `--seq 4096` stands for `--set seq=4096` (`WithParameters`).
"""

from __future__ import annotations

import difflib
import math
import os
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from gadgetopt.cli.completion import method_lists, system_names
from gadgetopt.errors import InputError
from gadgetopt.system.result import Limits


def _number(what: str, valid: Callable[[float], bool]) -> Callable[[str], float]:
    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and valid(value)):
            raise typer.BadParameter(f"{text!r} is not {what}")
        return value

    return parse


def _integer(what: str, least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise typer.BadParameter(f"{text!r} is not {what}")
        return value

    return parse


def text(given: str) -> str:
    """Refuse an empty text, such as that of an unset shell variable."""
    if not given:
        raise typer.BadParameter("'' is an empty string")
    return given


number: Callable[[str], float] = _number("a number", lambda x: True)
positive: Callable[[str], float] = _number("a positive number", lambda x: x > 0)
fraction: Callable[[str], float] = _number("a number in [0, 1)", lambda x: 0 <= x < 1)
count: Callable[[str], int] = _integer("a positive integer", 1)
natural: Callable[[str], int] = _integer("a non-negative integer", 0)

Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="name=value, repeatable; or --name value; see `list SYSTEM --all`."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Seed = Annotated[
    int, typer.Option("--seed", help="Random seed.", parser=natural, metavar="INTEGER")
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit", help="Wall-clock seconds of a solve.", parser=positive, metavar="S"
    ),
]
ModelTime = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        help="Wall-clock seconds of building and writing the model.",
        parser=positive,
        metavar="S",
    ),
]
Threads = Annotated[
    int, typer.Option("--threads", help="Solver threads.", parser=count, metavar="INTEGER")
]
Memory = Annotated[
    float | None,
    typer.Option(
        "--memory-mb",
        help="Memory beyond which the work is stopped; default a share of the machine's memory.",
        parser=positive,
        metavar="MB",
    ),
]
Gap = Annotated[
    float,
    typer.Option(
        "--gap",
        help="Relative gap at which a solve may stop; its status is then `feasible`, not optimal.",
        parser=fraction,
        metavar="GAP",
    ),
]

NoImprovement = Annotated[
    float | None,
    typer.Option(
        "--stop-after-no-improvement",
        help="Stop a solve that has a solution after these seconds without a better one.",
        parser=positive,
        metavar="S",
    ),
]
Target = Annotated[
    float | None,
    typer.Option(
        "--target",
        help="Stop a solve at this objective or a better one.",
        parser=number,
        metavar="OBJECTIVE",
    ),
]


def budget(text: str) -> str:
    """Refuse what is neither seconds nor a multiple of the time of a run."""
    from gadgetopt.runs.engine.budget import budget_s

    try:
        budget_s(text, 1.0)
    except InputError as error:
        raise typer.BadParameter(str(error).removeprefix("--certify: ")) from None
    return text


Certify = Annotated[
    str | None,
    typer.Option(
        "--certify",
        help="Prove the bound after the run, in these seconds or this multiple of the run's time.",
        parser=budget,
        metavar="S|10x",
    ),
]
Within = Annotated[
    str | None,
    typer.Option(
        "--within",
        help="Let rows of a model file hold within this tolerance, in its solutions and bounds.",
        metavar="1e-6",
    ),
]
System = Annotated[
    str,
    typer.Argument(
        metavar="SYSTEM", help="Name of a system, see `list`.", autocompletion=system_names
    ),
]


def _load(context: typer.Context, paths: list[Path] | None) -> list[Path] | None:
    if paths:
        from gadgetopt.system.plugins import plugged

        context.with_resource(plugged(paths))
    return paths


#: In use before the other options are read, until the command ends.
Plugins = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        help="File of Python with methods or other parts of your own; repeatable.",
        metavar="FILE.py",
        callback=_load,
        is_eager=True,
    ),
]
Out = Annotated[Path | None, typer.Option("--out", help="Write to this file.")]


#: Which runs of a store a command is about.
Systems = Annotated[
    str | None,
    typer.Option(
        help="Only these systems.",
        metavar="NAME,...",
        autocompletion=system_names,
    ),
]
Methods = Annotated[
    str | None,
    typer.Option(
        help="Only these methods: names, kinds or patterns.",
        metavar="NAME,...",
        autocompletion=method_lists,
    ),
]
Instances = Annotated[
    str | None, typer.Option(help="Only these instances: names or patterns.", metavar="NAME,...")
]


def names_of(text: str | None) -> tuple[str, ...]:
    """Return the names in a list separated by commas; commas in brackets belong to a name."""
    if text is None:
        return ()
    return tuple(n.strip() for n in re.findall(r"(?:\[[^\]]*\]|[^,\[]|\[)+", text) if n.strip())


#: Files that a figure can be written to; the last three need the extra `images` and a browser.
FIGURE_FILE = "FILE.html, .json, .png, .svg or .pdf"


def check_outputs(*outputs: Path | None, read: Path | Sequence[Path]) -> None:
    """Refuse an output file that is a folder, an input file, or another output file.

    Any other file that an option names is replaced, as the user expects.
    """
    inputs = [read] if isinstance(read, Path) else list(read)
    taken = list(inputs)
    for path in (path for path in outputs if path is not None):
        if path.is_dir():
            raise InputError(f"{path}: is a directory, expected a file")
        if any(_same(path, other) for other in taken):
            is_read = any(_same(path, file) for file in inputs)
            what = "is the file that is read" if is_read else "is given twice"
            raise InputError(f"{path}: {what}, expected another file to write to")
        taken.append(path)


def _same(path: Path, other: Path) -> bool:
    return os.path.realpath(path) == os.path.realpath(other)


def limits(
    time_s: float | None,
    threads: int,
    memory_mb: float | None,
    rel_gap: float,
    no_improvement_s: float | None = None,
    target: float | None = None,
) -> Limits:
    """Return the limits that the options ask for."""
    return Limits(time_s, threads, memory_mb, rel_gap, no_improvement_s, target)


class WithParameters(TyperCommand):
    """A command that takes an option which it does not know as a parameter."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, parameters as settings."""
        known = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        return super().parse_args(ctx, as_settings(args, known))


def as_settings(arguments: Sequence[str], known: Collection[str]) -> list[str]:
    """Return arguments in which unknown options with a value are settings.

    What is nearly a known option stays as it is, and so does what has no value: the command line
    then says what is wrong.

    Examples
    --------
    >>> as_settings(["a.json", "--tensor-parallel", "4", "--json"], {"--json", "--set"})
    ['a.json', '--set', 'tensor_parallel=4', '--json']
    >>> as_settings(["a.json", "--jsn", "4"], {"--json", "--set"})
    ['a.json', '--jsn', '4']
    """
    found: list[str] = []
    waiting = list(arguments)
    while waiting:
        argument = waiting.pop(0)
        if argument == "--":
            return [*found, argument, *waiting]
        name, equals, value = argument.partition("=")
        if not _is_parameter(name, known):
            found.append(argument)
        elif equals:
            found += ["--set", f"{_field(name)}={value}"]
        elif waiting and not waiting[0].startswith("--"):
            found += ["--set", f"{_field(name)}={waiting.pop(0)}"]
        else:
            found.append(argument)
    return found


def _is_parameter(name: str, known: Collection[str]) -> bool:
    """Return whether an argument is an option, but none of the command, nor nearly one."""
    if not name.startswith("--") or name in known:
        return False
    bare = [option.lstrip("-") for option in known]
    return not difflib.get_close_matches(name.removeprefix("--"), bare, cutoff=0.8)


def _field(name: str) -> str:
    return name.removeprefix("--").replace("-", "_")
