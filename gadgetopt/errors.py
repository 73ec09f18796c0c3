"""Exceptions of the toolkit, and warnings that are issued once per process."""

from __future__ import annotations

import logging
import re
import traceback
from fractions import Fraction
from functools import cache
from pathlib import Path

logger: logging.Logger = logging.getLogger(__name__)


class InputError(ValueError):
    """Unusable input from the user.

    The message is one line that names the place (file and field, or option), the value, and what
    was expected. The command line prints it and exits with code 2.
    """


class OtherCode(InputError):
    """The source code of a process differs from the code that a run is asked of."""

    here: str
    wanted: str

    def __init__(self, wanted: str, here: str):
        super().__init__(wanted, here)
        self.wanted, self.here = wanted, here

    def __str__(self) -> str:
        return (
            f"the source code has changed: now {self.here}, at the start {self.wanted}; finished "
            "runs are stored, and the same command runs the rest with the present code"
        )


class NotLoaded(InputError):
    """A process cannot load a plug-in that the client could."""


class BoundRefuted(ValueError):
    """A feasible solution at hand is better than a dual bound that a certificate proves.

    One of the two checks must be wrong, so neither can be relied upon.
    """


class Unproved(ValueError):
    """Something is not proved, for a reason that is no fault of the code; the message says it."""


class BetterPoint(Exception):
    """The search for a proof of a claim met a feasible point of a model that is better.

    Attributes
    ----------
    values : list of Fraction
        Of the columns of the model; every row and bound holds exactly.
    """

    def __init__(self, values: list[Fraction]):
        super().__init__("a feasible point is better than the claim")
        self.values = values


class SolverError(RuntimeError):
    """A solver ended without a usable answer; the message says why."""


class ModelRefused(ValueError):
    """A method does not support this instance, or a backend cannot represent a model exactly.

    The message names the part and the cause, in one line.
    """

    def __init__(self, message: str):
        super().__init__(" ".join(message.split()))


class SchedulerLost(RuntimeError):
    """The connection to a cluster's scheduler was lost; all finished runs are stored."""


@cache
def warn(line: str) -> None:
    """Warn once per process; the command line prints the warning on stderr."""
    logger.warning("%s", line)


def failure(error: BaseException) -> str:
    """Describe an exception in one line: its type, message and place."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno}"
    text = f": {error}"[:2000] if str(error) else ""
    said = f"{type(error).__name__}{text} ({where})".replace("\n", " ")
    return said.encode(errors="backslashreplace").decode()  # text that a store can hold


def in_words(described: str) -> str:
    """Return what `failure` said without the place, nor the type of what is raised to be read."""
    words = re.sub(r" \([\w.<>-]+:\d+\)$", "", described)
    names = "ValueError|RuntimeError|InputError|BoundRefuted|SolverError|ModelRefused|Unproved"
    return re.sub(f"^(?:{names}): ", "", words).removesuffix(": ")
