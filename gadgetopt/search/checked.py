"""Checks of certificates that are not made again in the process that made them.

A method may ask its system's own check whether a certificate proves what is needed, and the toolkit
asks again when it judges the outcome. What the check returned is kept here, never what a method
says of it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

from gadgetopt.system.data import Certificate, Instance

I = TypeVar("I", bound=Instance)  # noqa: E741
C = TypeVar("C", bound=Certificate)
Bound = TypeVar("Bound")

#: Checks that are kept: a method asks about several certificates and hands back one of the last.
#: Tuned: `benchmarks/constants.py`.
KEPT = 4
#: Seconds of a check from which on it is kept: a shorter one is made again in no time.
#: Tuned: `benchmarks/constants.py`.
LEAST_S = 1e-3


@dataclass(frozen=True)
class _Made:
    """A check that was made, of these very objects."""

    instance: Instance
    certificate: Certificate
    content: str
    bound: Any

    def is_of(self, instance: Instance, certificate: Certificate) -> bool:
        """Return True if it is of an instance and a certificate, which nobody has changed."""
        same = self.instance is instance and self.certificate is certificate
        return same and self.content == certificate.model_dump_json()


def checked_once(check: Callable[[I, C], Bound]) -> Callable[[I, C], Bound]:
    """Return a check that returns what it found the last time for the same two objects.

    Parameters
    ----------
    check : callable
        `check_bound(instance, certificate)` of a system; what it raises is not kept.
    """
    made: deque[_Made] = deque(maxlen=KEPT)

    @wraps(check)
    def check_once(instance: I, certificate: C) -> Bound:
        for known in made:
            if known.is_of(instance, certificate):
                bound: Bound = known.bound
                return bound
        begin = time.perf_counter()
        bound = check(instance, certificate)
        if time.perf_counter() - begin >= LEAST_S:
            made.append(_Made(instance, certificate, certificate.model_dump_json(), bound))
        return bound

    return check_once
