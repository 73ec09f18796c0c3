"""Entry point of the command line, and its error messages of one line."""

from __future__ import annotations

import errno
import os
import signal
import sys
from pathlib import Path
from typing import Any

from gadgetopt.cli import INTERRUPTED
from gadgetopt.cli.printing import escape_warnings, say
from gadgetopt.errors import InputError, ModelRefused, SchedulerLost

#: Errors of a write to an output whose disk or file is full.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


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
    # What watches an application's data models has none here, and to look for it the metadata of
    # all that is installed are read, by each process anew.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    sys.exit(_run(arguments))


def _run(arguments: list[str] | None) -> int:
    try:
        code = _done(arguments)
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


def _done(arguments: list[str] | None) -> Any:
    """Do what is asked; to load what parses options would take longer than a plain list."""
    given = sys.argv[1:] if arguments is None else arguments
    if given and given[0] == "list" and len(given) <= 2 and "_GADGETOPT_COMPLETE" not in os.environ:
        system = given[1] if len(given) == 2 else None
        if system is None or not system.startswith("-"):
            from gadgetopt.cli.listing import print_list

            print_list(system)
            return 0
    from gadgetopt.cli import commands
    from gadgetopt.numbers.compiling import announcing
    from gadgetopt.runs.engine.copied import allow as allow_copies

    if arguments is None:
        allow_copies()
    with announcing(say):
        return commands.app(args=arguments, prog_name="gadgetopt", standalone_mode=False)


def _how_parameters_are_given(error: Any) -> str:
    """Return how the command takes a parameter, where an option that it has not may be meant so."""
    import difflib

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
