"""The state of a search: incumbent, dual bound with its certificate, trace and time left."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from gadgetopt.numbers.tolerance import CLOSED_GAP, Number, agrees
from gadgetopt.search.clock import Clock
from gadgetopt.search.watched import Trace
from gadgetopt.system.data import Certificate, Solution
from gadgetopt.system.declaration import Sense
from gadgetopt.system.result import (
    Limits,
    MethodOutcome,
    Status,
    TracePoint,
)

Found = TypeVar("Found")


class Search(Generic[Found]):
    """Incumbent and dual bound of a search within limits; its clock starts at creation.

    Parameters
    ----------
    sense : "min" or "max"
    limits : Limits
    gap : float
        Relative gap at which the search is closed if the limits ask for none.

    Attributes
    ----------
    best : object or None
        The incumbent.
    value : Number
        Its objective; infinitely bad while there is none.
    bound : Number
        Dual bound on the optimum; infinite while nothing is known.
    certificate : Certificate or None
        Proof of the bound, if it has one.
    infeasible : bool
        True once the instance is proved infeasible.
    limit_hit : str or None
        The limit that stopped a part of the search.
    """

    def __init__(self, sense: Sense, limits: Limits, *, gap: float = CLOSED_GAP):
        self.clock: Clock = Clock(limits)
        self.gap: float = max(limits.rel_gap, gap)
        self._minimise = sense == "min"
        self.best: Found | None = None
        self.value: Number = math.inf if self._minimise else -math.inf
        self.bound: Number = -self.value
        self.certificate: Certificate | None = None
        self.infeasible = False
        self.limit_hit: str | None = None
        self._trace = Trace(limits, self.clock)
        self.trace: list[TracePoint] = self._trace.points
        self.versions: dict[str, str] = {}

    def offer(self, value: Number, found: Found) -> bool:
        """Take a solution as the incumbent if it is better; return True if it is."""
        if not self._better(value, self.value):
            return False
        self.best, self.value = found, value
        self.bound = self._not_crossed(self.bound)
        self.note()
        return True

    def prove(self, bound: Number, certificate: Certificate | None = None) -> bool:
        """Take a dual bound with its certificate if it is tighter; return True if it is."""
        bound = self._not_crossed(bound)
        if not self._better(self.bound, bound):
            return False
        self.bound, self.certificate = bound, certificate
        self.note()
        return True

    def closes(self, bound: Number) -> bool:
        """Return True if a bound rules out improving on the incumbent by more than the gap.

        Exact numbers that are equal are closed whatever the gap.
        """
        if math.isinf(self.value) or math.isinf(bound):
            return False
        if not self._better(bound, self.value):
            return True
        if self.gap == 0:
            return False
        return abs(float(bound - self.value)) <= self.gap * abs(float(self.value))

    @property
    def closed(self) -> bool:
        """True if the search is closed to the requested gap."""
        return self.infeasible or self.closes(self.bound)

    @property
    def over(self) -> bool:
        """True if the search is closed or stopped, or its time is up."""
        return self.closed or self.limit_hit is not None or self.clock.expired

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Take Ctrl-C within as the end of the search, which keeps incumbent and bound.

        What is running is left where it is, so a bound belongs to the search only once it is proved
        in full.
        """
        try:
            yield
        except KeyboardInterrupt:
            self.limit_hit = "interrupted"

    def note(self) -> None:
        """Add a point to the trace; who watches the run is told."""
        self._trace.note(_known(self.value), _known(self.bound))

    def outcome(self, solution: Solution | None, **notes: Any) -> MethodOutcome:
        """Return the outcome of the search, with the incumbent as its solution."""
        stopped = self.limit_hit or self.clock.limit_hit
        if self.clock.interrupted or self.clock.criterion is not None:
            # Whatever the last steps, left without time, said.
            stopped = self.clock.limit_hit
        return MethodOutcome(
            solution=solution,
            claimed_objective=_known(self.value),
            dual_bound=_known(self.bound),
            certificate=self.certificate,
            proved=Status.INFEASIBLE if self.infeasible else None,
            limit_hit=None if self.closed else stopped,
            trace=tuple(self.trace),
            phases_s=self.clock.phases_s,
            versions=self.versions,
            notes=notes,
        )

    def _better(self, a: Number, b: Number) -> bool:
        """Return True if `a` is the better objective of the two."""
        return a < b if self._minimise else a > b

    def _not_crossed(self, bound: Number) -> Number:
        """Move a bound that crosses the incumbent by rounding only; leave a refuted one."""
        crossed = self._better(self.value, bound)
        return self.value if crossed and agrees(bound, self.value) else bound


def _known(value: Number) -> Number | None:
    return None if math.isinf(value) else value
