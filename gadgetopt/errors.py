"""The two ways in which a request can be turned down before it is solved."""

from __future__ import annotations


class InputError(ValueError):
    """What the user gave cannot be used.

    The message is one line that names the place (file and field, or option), the value, and what
    was expected. The command line prints it and exits with code 2.
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
