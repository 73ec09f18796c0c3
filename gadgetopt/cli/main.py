"""Entry point of the command line, and its error messages of one line.

Only the command that is asked for is imported, and commands import heavy modules themselves, so
that the command line answers at once.
"""

from __future__ import annotations

import difflib
import errno
import importlib
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import typer
import typer.main
from typer.core import TyperGroup

from gadgetopt.cli import INTERRUPTED
from gadgetopt.cli.options import WithParameters
from gadgetopt.cli.printing import echo, escape_warnings, say
from gadgetopt.cli.verbosity import Verbose, verbose
from gadgetopt.errors import InputError, ModelRefused, SchedulerLost
from gadgetopt.numbers.compiling import announcing
from gadgetopt.runs.engine.copied import allow as allow_copies

#: Errors of a write to an output whose disk or file is full.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)

#: Module and function of each command, or module and application of a group of commands.
_COMMANDS = {
    "list": "looking:list_",
    "show": "looking:show",
    "info": "looking:info",
    "formulations": "formulations:formulations",
    "generate": "making:generate",
    "import": "making:import_",
    "solve": "solving:solve",
    "verify": "solving:verify",
    "check": "checking:check",
    "decode": "exporting:decode",
    "plot": "plotting:plot",
    "compare": "comparing:compare",
    "certify": "storing:certify",
    "ratios": "comparing:ratios",
    "summary": "summarizing:summary",
    "report": "reporting:report",
    "status": "storing:status",
    "delete": "storing:delete",
    "merge": "storing:merge",
    "export": "exporting:export",
    "train": "training:train",
    "new-system": "making:new_system",
    "errata": "checking:errata",
    "schema": "looking:schema",
    "records": "records:app",
}
#: Commands whose unknown options are parameters of a preset, an importer or an exporter.
_WITH_PARAMETERS = ("generate", "import", "export")


class _Commands(Mapping[str, Any]):
    """The commands by name; each is imported and put together when it is first looked up."""

    def __getitem__(self, name: str) -> Any:
        if name not in _COMMANDS:
            raise KeyError(name)
        return _command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_COMMANDS)

    def __len__(self) -> int:
        return len(_COMMANDS)


@cache
def _command(name: str) -> Any:
    module, _, attribute = _COMMANDS[name].partition(":")
    found: Any = getattr(importlib.import_module(f"gadgetopt.cli.{module}"), attribute)
    alone = typer.Typer(add_completion=False, **_LOOKS)
    if isinstance(found, typer.Typer):
        alone.add_typer(found, name=name)
        return typer.main.get_group(alone).commands[name]
    kind = WithParameters if name in _WITH_PARAMETERS else None
    alone.command(name, cls=kind)(verbose(found))
    return typer.main.get_command(alone)


class _Group(TyperGroup):
    """The command line, of which only the command that is asked for is imported."""

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        self.commands: Any = _Commands()


_LOOKS: dict[str, Any] = {"pretty_exceptions_enable": False, "rich_markup_mode": None}
app: typer.Typer = typer.Typer(
    name="gadgetopt",
    cls=_Group,
    help="How far from optimal are published schedulers, by proved bounds?",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    **_LOOKS,
)


def _version(wanted: bool) -> None:
    if wanted:
        from gadgetopt.cli.first import versions

        echo(versions())
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: bool = typer.Option(
        False,
        "--version",
        callback=_version,
        is_eager=True,
        help="Print versions, also of solvers.",
    ),
    verbose: Verbose = 0,
) -> None:
    if context.invoked_subcommand is None:
        from gadgetopt.cli.first import welcome

        echo(welcome())


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit.

    The exit code is 0 on success, 1 if a solve or check failed, 2 for bad input or output that
    cannot be written, and 130 after Ctrl-C or SIGTERM, which batch systems send before they end a
    job.
    """
    # Python has no stream for a closed descriptor.
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115
    escape_warnings()
    if arguments is None:
        allow_copies()
    # What watches an application's data models has none here, and to look for it the metadata of
    # all that is installed are read, by each process anew.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    sys.exit(_run(arguments))


def _run(arguments: list[str] | None) -> int:
    try:
        with announcing(say):
            code: Any = app(args=arguments, prog_name="gadgetopt", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except (InputError, ModelRefused) as error:
        # Quoted names may contain line breaks.
        say(" ".join(str(error).splitlines()))
        return 2
    except SchedulerLost as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the output is gone (`gadgetopt list | head`), which is not an error.
        _drop_output()
        return 0
    except OSError as error:
        if error.filename is not None or error.errno not in _FULL:
            raise
        _drop_output()
        say(f"output: cannot be written: {error.strerror}")
        return 2
    except Exception as error:
        # Usage errors have their own message; anything else is a defect and shows its traceback.
        if not hasattr(error, "format_message"):
            raise
        message = " ".join(error.format_message().split())
        if message:
            say(message + _how_parameters_are_given(error))
        return 2


def _how_parameters_are_given(error: Any) -> str:
    """Return how the command takes a parameter, where an option that it has not may be meant so."""
    option = getattr(error, "option_name", "")
    close = difflib.get_close_matches(
        option, getattr(error, "possibilities", None) or (), cutoff=0.8
    )
    if not option.startswith("--") or close or error.ctx is None:
        return ""
    known = {name for parameter in error.ctx.command.params for name in parameter.opts}
    name = option.removeprefix("--").replace("-", "_")
    if "--set" in known:
        return f"; a parameter is given as --set {name}=VALUE"
    for methods in ("--methods", "--method"):  # of commands that run some
        if methods in known and "--time-limit" in known:
            return f"; a method's parameter is given with its name, {methods} METHOD:{name}=VALUE"
    return ""


def _drop_output() -> None:
    """Discard the rest of the output, so that Python's exit does not fail on it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
