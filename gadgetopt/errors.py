"""How a request is turned down before it is solved, and warnings of what was passed over."""

from __future__ import annotations

import logging
import traceback
from functools import cache
from pathlib import Path

logger = logging.getLogger(__name__)


class InputError(ValueError):
    """What the user gave cannot be used.

    The message is one line that names the place (file and field, or option), the value, and what
    was expected. The command line prints it and exits with code 2.
    """


class OtherCode(InputError):
    """A process that should do a run has not the source code that the run is asked of."""

    def __init__(self, wanted: str, here: str):
        super().__init__(wanted, here)
        self.wanted, self.here = wanted, here

    def __str__(self) -> str:
        return (
            f"the source code has changed: now {self.here}, at the beginning {self.wanted}; what "
            "was done is stored, the same command begins anew with the code as it is"
        )


class BoundRefuted(ValueError):
    """A feasible solution at hand is better than a dual bound that a certificate proves.

    One of the two checks is wrong: neither can be relied upon.
    """


class SolverError(RuntimeError):
    """A solver ended in a way that allows no conclusion; the message is its reason."""


class ModelRefused(ValueError):
    """A method is not made for this instance, or a backend cannot represent a model exactly.

    The message names the part and the cause, in one line.
    """

    def __init__(self, message: str):
        super().__init__(" ".join(message.split()))


class SchedulerLost(RuntimeError):
    """A cluster's scheduler went away in the middle of a comparison; what was done is stored."""


@cache
def warn(line: str) -> None:
    """Warn of what is passed over, once per process; the command line prints it on stderr."""
    logger.warning("%s", line)


def failure(error: BaseException) -> str:
    """Say in one line what was raised, and where."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno}"
    said = f"{type(error).__name__}: {str(error)[:2000]} ({where})".replace("\n", " ")
    return said.encode(errors="backslashreplace").decode()  # any text that a store can hold
