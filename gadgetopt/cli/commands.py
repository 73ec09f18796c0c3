"""All commands with their options, put together by Typer; `gadgetopt` alone, and its versions.

Only the command that is asked for is imported, and commands import heavy modules themselves, so
that the command line answers at once.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import typer
import typer.main
from typer.core import TyperGroup

from gadgetopt.cli.options import WithParameters
from gadgetopt.cli.printing import echo
from gadgetopt.cli.verbosity import Verbose, verbose

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
        echo(welcome())


# -- without a command ----------------------------------------------------------------------------

#: Distributions whose versions may change results, by the name that people know.
_PARTS = {
    "HiGHS": "highspy",
    "OR-Tools": "ortools",
    "PySCIPOpt": "pyscipopt",
    "Pyomo": "pyomo",
    "numpy": "numpy",
}


def welcome() -> str:
    """Return the answer to `gadgetopt` alone: three commands to try first."""
    from gadgetopt import __version__

    return f"""\
gadgetopt {__version__}: how far from optimal are published schedulers, by proved bounds?

Three commands to try first:
  gadgetopt list                        list the systems
  gadgetopt generate sjf_bco --out my   write a small instance of one of them
  gadgetopt compare my                  solve it by several methods and print their ratios

`gadgetopt --help` lists all commands, `gadgetopt COMMAND --help` explains one."""


def versions() -> str:
    """Return the versions of gadgetopt, Python and the solvers, one per line."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from gadgetopt import __version__

    lines = [f"gadgetopt {__version__}", f"Python {platform.python_version()}"]
    for name, distribution in _PARTS.items():
        said = name if name.lower() == distribution else f"{name} ({distribution})"
        try:
            lines.append(f"{said} {version(distribution)}")
        except PackageNotFoundError:
            lines.append(f"{said} not installed")
    return "\n".join([*lines, f"platform {platform.platform()}"])
