"""What travels between client, supervisor and solver process: plain data."""

from __future__ import annotations

import pickle
import platform
import struct
from dataclasses import dataclass
from typing import IO, Any

from gadgetopt import __version__
from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.system.result import Limits

#: What client and workers must have in common: versions of gadgetopt and of Python.
VERSIONS = (__version__, ".".join(platform.python_version_tuple()[:2]))

_LENGTH = struct.Struct(">Q")


@dataclass(frozen=True)
class Work:
    """One run: which method on which instance, and how long to wait beyond its limits.

    Attributes
    ----------
    fingerprint : str
        Names the instance, whose file's text travels apart from the runs on it.
    session : str
        Names the comparison, which may be interrupted as a whole.
    grace_s : float
        Seconds after the time limit at which the method is interrupted, and again at which it is
        stopped.
    code : str or None
        What is to make the run, see `gadgetopt.runs.source_code`; None if it is not checked.
    """

    key: str
    session: str
    problem: str
    fingerprint: str
    spec: str
    limits: Limits
    seed: int
    grace_s: float
    versions: tuple[str, str] = VERSIONS
    code: str | None = None


@dataclass(frozen=True)
class Failure:
    """Why there is no row for a run, in words; the client makes one of it."""

    reason: str
    limit_hit: str | None = None
    time_s: float = 0.0


@dataclass(frozen=True)
class Order:
    """A run as its supervisor gives it to a solver process.

    `document` is None if the process has the instance; `forget` names instances to be dropped.
    """

    work: Work
    document: str | None
    forget: tuple[str, ...] = ()


@dataclass(frozen=True)
class Call:
    """A function, as `module:name`, that prints its answer and returns an exit code.

    Attributes
    ----------
    session : str
        Names no comparison.
    code : None
        Of a call it is not checked.
    """

    function: str
    arguments: tuple[Any, ...]
    limits: Limits
    grace_s: float = 0.0
    session: str = ""
    code: None = None


@dataclass(frozen=True)
class Answer:
    """What a call returned and printed, or with what words it turned its arguments down."""

    code: int
    printed: str
    error: InputError | ModelRefused | None = None


def default_grace_s(time_s: float | None) -> float:
    """Return the seconds a method may take beyond its time limit."""
    return max(5.0, 0.1 * (time_s or 0.0))


def send(stream: IO[bytes], message: Any) -> None:
    """Write a message to a pipe."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read a message from a pipe.

    Raises
    ------
    EOFError
        If the other side has gone.
    """
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)
