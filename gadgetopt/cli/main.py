"""The command line: one function per command, one line per mistake.

Everything heavy is imported inside the commands, so that `--help` answers at once.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import typer

from gadgetopt.cli import INTERRUPTED
from gadgetopt.cli.comparing import compare, ratios
from gadgetopt.cli.looking import list_, schema, show
from gadgetopt.cli.making import export, generate, import_
from gadgetopt.cli.reporting import report
from gadgetopt.cli.solving import plot, solve, verify
from gadgetopt.errors import InputError, ModelRefused, SchedulerLost

app = typer.Typer(
    name="gadgetopt",
    help="How far from optimal are the algorithms for the problems of distributed training?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("list")(list_)
app.command("show")(show)
app.command("generate")(generate)
app.command("import")(import_)
app.command("solve")(solve)
app.command("verify")(verify)
app.command("plot")(plot)
app.command("compare")(compare)
app.command("ratios")(ratios)
app.command("report")(report)
app.command("export")(export)
app.command("schema")(schema)


def _version(wanted: bool) -> None:
    if wanted:
        from gadgetopt import __version__

        typer.echo(f"gadgetopt {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit.

    The exit code is 0 if all was done, 1 if a solve or check failed, 2 for bad input, 130 after
    Ctrl-C or SIGTERM, by which batch systems announce the end of a job.
    """
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    sys.exit(_run(arguments))


def _run(arguments: list[str] | None) -> int:
    try:
        code: Any = app(args=arguments, standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except (InputError, ModelRefused) as error:
        # Names that it quotes may hold line breaks.
        print(f"gadgetopt: {' '.join(str(error).splitlines())}", file=sys.stderr)
        return 2
    except SchedulerLost as error:
        print(f"gadgetopt: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("gadgetopt: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone (`gadgetopt list | head`): that is its right.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        # Usage errors carry their own sentence; anything else is a defect and shows its traceback.
        if not hasattr(error, "format_message"):
            raise
        message = " ".join(error.format_message().split())
        if message:
            print(f"gadgetopt: {message}", file=sys.stderr)
        return 2
