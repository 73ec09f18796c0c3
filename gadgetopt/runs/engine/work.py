"""Messages between client, supervisor and solver process, as plain data."""

from __future__ import annotations

import json
import pickle
import platform
import struct
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from gadgetopt import __version__
from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.system.result import Limits

if TYPE_CHECKING:
    from gadgetopt.runs.rows import Row
    from gadgetopt.system.plugins import Shipment

#: Versions of gadgetopt and Python, which client and workers must share.
VERSIONS = (__version__, ".".join(platform.python_version_tuple()[:2]))

_LENGTH = struct.Struct(">Q")


@dataclass(frozen=True)
class Work:
    """One run: its method, instance and limits, and the grace period beyond them.

    Attributes
    ----------
    fingerprint : str
        Identifies the instance, whose file's text travels separately from its runs.
    session : str
        Identifies the comparison, which may be interrupted as a whole.
    grace_s : float
        Seconds beyond the time limit until the run is stopped; the method is interrupted after half
        of them (`gadgetopt.search.alarm`).
    code : str or None
        The code that is to make the run, see `gadgetopt.runs.code`; None to skip the check.
    plugins : str
        Identifies the plug-ins that the run needs, which travel separately; empty for none.
    certify : str
        Seconds, or a multiple of the run's, for proving its bound; empty for its root only.
    finished : dict or None
        The row of a run that is done already, so that only its bound is to be proved.
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
    plugins: str = ""
    certify: str = ""
    finished: Row | None = None


@dataclass(frozen=True)
class Failure:
    """The reason why a run has no row; the client makes a row of it."""

    reason: str
    limit_hit: str | None = None
    time_s: float = 0.0


@dataclass(frozen=True)
class Order:
    """A run as sent by its supervisor to a solver process.

    `document` is None if the process has the instance, `plugins` if it has the plug-ins; `forget`
    lists instances to drop.
    """

    work: Work
    document: str | None
    forget: tuple[str, ...] = ()
    plugins: Shipment | None = None


@dataclass(frozen=True)
class Call:
    """A function, as `module:name`, that prints its answer and returns an exit code.

    Attributes
    ----------
    session : str
        Empty: a call belongs to no comparison.
    code : None
        None: the code of a call is not checked.
    certify : str
        Empty: a call has no bound.
    """

    function: str
    arguments: tuple[Any, ...]
    limits: Limits
    plugins: Shipment = ()
    grace_s: float = 0.0
    session: str = ""
    code: None = None
    certify: str = ""


@dataclass(frozen=True)
class Answer:
    """The exit code and output of a call, or the message with which it refused its arguments."""

    code: int
    printed: str
    error: InputError | ModelRefused | None = None


def unproved(row: Row, reason: str) -> Row:
    """Return a row whose search for a proof was stopped, with the reason in its notes."""
    from gadgetopt.trust.proving import notes_with  # loads what describes systems

    notes = notes_with(json.loads(row["notes"]), {"ended": reason})
    return {**row, "notes": json.dumps(notes)}


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
