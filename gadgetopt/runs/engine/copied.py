"""A solver process that begins as a copy of this one, with all that a run needs loaded already.

A fresh process imports again what the command line has imported, reads the system's files again,
and takes as long as the whole of a short solve. Only the command line's own process is copied, on
Linux, while it has a single thread: what other threads hold would stay held in the copy.
"""

from __future__ import annotations

import io
import logging
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, NoReturn

#: Not empty in a process that may be copied.
_allowed: list[bool] = []


def allow() -> None:
    """Let this process be copied: it is the command line's own, and does nothing else."""
    if sys.platform == "linux":
        _allowed.append(True)


def may_copy() -> bool:
    """Return True if this process may be copied now; threads of libraries count, too.

    One whose standard streams are closed is not: pipes would be opened in their places.
    """
    if not _allowed or not all(os.path.lexists(f"/proc/self/fd/{n}") for n in range(3)):
        return False
    return sum(1 for _ in Path("/proc/self/task").iterdir()) == 1


class Copy:
    """A copy of this process that calls a function and ends; what `subprocess.Popen` has, of it.

    Parameters
    ----------
    call : callable
        What the copy does, with pipes for its standard streams.
    environment : mapping
        Its environment.

    Attributes
    ----------
    pid : int
    returncode : int or None
        None until `poll` or `wait` has seen its end; negative for a signal.
    stdin, stdout, stderr : binary stream
        The other ends of its standard streams.
    """

    def __init__(self, call: Callable[[], None], environment: Mapping[str, str]):
        (its_in, to_it), (from_it, its_out), (said, its_err) = os.pipe(), os.pipe(), os.pipe()
        sys.stdout.flush()  # what is in the buffers would be written by both
        sys.stderr.flush()
        self.returncode: int | None = None
        self.pid: int = os.fork()
        if not self.pid:
            for end in (to_it, from_it, said):
                os.close(end)
            _be_copy(call, (its_in, its_out, its_err), environment)
        for end in (its_in, its_out, its_err):
            os.close(end)
        self.stdin: BinaryIO | None = os.fdopen(to_it, "wb")
        self.stdout: BinaryIO | None = os.fdopen(from_it, "rb")
        self.stderr: BinaryIO | None = os.fdopen(said, "rb")

    def poll(self) -> int | None:
        """Return how the copy has ended; None if it has not."""
        return self._ended(os.WNOHANG)

    def wait(self) -> int:
        """Wait for the end of the copy; return how it has ended."""
        code = self._ended(0)
        assert code is not None
        return code

    def send_signal(self, number: int) -> None:
        """Send the copy a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End the copy."""
        self.send_signal(signal.SIGKILL)

    def _ended(self, how: int) -> int | None:
        if self.returncode is None:
            try:
                found, status = os.waitpid(self.pid, how)
            except ChildProcessError:  # ends of processes are ignored here: how is not known
                found, status = self.pid, 0
            if found:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


#: A process of either kind.
Child = subprocess.Popen[bytes] | Copy


def _be_copy(
    call: Callable[[], None], streams: tuple[int, int, int], environment: Mapping[str, str]
) -> NoReturn:
    """Leave the terminal, take streams and environment, call the function, and end."""
    code = 1
    try:
        os.setsid()  # Ctrl-C on the terminal is handled by the client
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        sys.stdin = sys.__stdin__ = os.fdopen(0, closefd=False)  # type: ignore[misc]
        sys.stdout = sys.__stdout__ = _written(1)  # type: ignore[misc]
        sys.stderr = sys.__stderr__ = _written(2)  # type: ignore[misc]
        os.environ.update(environment)
        said = logging.getLogger("gadgetopt")  # the client's option -v is about the client
        said.handlers.clear()
        said.setLevel(logging.NOTSET)
        call()
        code = 0
    except BaseException:  # nothing may return into what the client was doing
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _written(number: int) -> io.TextIOWrapper:
    return os.fdopen(number, "w", buffering=1, errors="backslashreplace", closefd=False)
