"""HiGHS without its banner: highspy 1.16 prints one, before an option can forbid it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import highspy

_one_at_a_time = threading.Lock()


def new_highs() -> highspy.Highs:
    """Return a HiGHS without a model that prints nothing.

    Its number of threads may be set: others who use HiGHS leave a scheduler in this thread, and a
    HiGHS with another number would refuse to run.
    """
    highs: highspy.Highs = _silent(highspy.Highs)
    return highs


def bare_highs() -> Any:
    """Return the same without what highspy adds to HiGHS itself: callbacks and expressions.

    They take time, and keep it alive until Python collects its garbage.
    """
    return _silent(highspy.Highs.__base__)


def _silent(kind: Any) -> Any:
    with _one_at_a_time:
        _hide_banner()
    highspy.Highs.resetGlobalScheduler(True)
    highs = kind()
    highs.setOptionValue("log_to_console", False)
    return highs


@cache
def _hide_banner() -> None:
    """Make a first HiGHS of this process while the descriptor of standard output is elsewhere.

    Programs read what we print there as JSON or CSV.
    """
    with _no_standard_output():
        highspy.Highs()


@contextmanager
def _no_standard_output() -> Iterator[None]:
    try:
        kept = os.dup(1)
    except OSError:  # closed: nobody reads it
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
