"""The one place that prints: what comes from files, stores and methods is shown escaped."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from gadgetopt.system.printable import printable, printable_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment


def echo(text: str = "", nl: bool = True) -> None:
    """Print a text on standard output."""
    print(printable(text), end="\n" if nl else "", flush=True)


def say(line: str) -> None:
    """Print a line to standard error; a batch goes on if that fails."""
    with suppress(OSError):
        print(f"gadgetopt: {printable_line(line)}", file=sys.stderr, flush=True)


def console(stderr: bool = False) -> Console:
    """Return a console; that of a standard output that is no terminal has a fixed width."""
    from rich.console import Console
    from rich.segment import Segment

    class Escaping(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else printable(text), style, control)

    if stderr:
        return Escaping(stderr=True)
    return Escaping() if sys.stdout.isatty() else Escaping(width=160)


class EscapingFormatter(logging.Formatter):
    """Formats what is logged as a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, with its traceback if it has one."""
        return printable(super().format(record))


def escape_warnings() -> None:
    """Escape warnings that no handler takes, too."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(EscapingFormatter())
