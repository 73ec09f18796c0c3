"""The option `-v` of every command: what the modules log, on standard error."""

from __future__ import annotations

import functools
import inspect
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, get_type_hints

import typer

from gadgetopt.cli.printing import EscapingFormatter


class _ToStderr(logging.Handler):
    """Writes to what is standard error at that moment: a live view puts its own in place."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stderr)


@contextmanager
def logged(level: int) -> Iterator[None]:
    """Print what the toolkit logs from this level on."""
    logger = logging.getLogger("gadgetopt")
    before, handler = logger.level, _ToStderr()
    handler.setFormatter(EscapingFormatter("%(asctime)s %(name)s: %(message)s", "%H:%M:%S"))
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def _listen(context: typer.Context, times: int) -> int:
    if times and not context.resilient_parsing:
        context.with_resource(logged(logging.INFO if times == 1 else logging.DEBUG))
    return times


#: In use before the other options are read, until the command ends.
Verbose = Annotated[
    int,
    typer.Option(
        "-v",
        "--verbose",
        count=True,
        callback=_listen,
        is_eager=True,
        show_default=False,
        metavar="",
        help="Print what is done; -vv prints more.",
    ),
]


def verbose(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command with the further option `-v`."""
    hints = get_type_hints(command, include_extras=True)
    given = inspect.signature(command)
    parameters = [
        p.replace(annotation=hints.get(p.name, p.annotation)) for p in given.parameters.values()
    ]
    option = inspect.Parameter(
        "verbose", inspect.Parameter.KEYWORD_ONLY, default=0, annotation=Verbose
    )

    @functools.wraps(command)
    def with_option(*arguments: Any, verbose: int = 0, **options: Any) -> Any:
        return command(*arguments, **options)

    # Typer reads both.
    with_option.__signature__ = given.replace(parameters=[*parameters, option])  # type: ignore[attr-defined]
    with_option.__annotations__ = {**hints, "verbose": Verbose}
    return with_option
