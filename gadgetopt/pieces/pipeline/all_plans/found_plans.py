"""What a search over all plans finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gadgetopt.pieces.pipeline.plan import Plan


@dataclass(frozen=True)
class FoundPlan:
    """A plan, made when it is asked for, and lower bounds in ticks.

    Attributes
    ----------
    made : callable
        Returns the plan.
    ticks : int
        On its head-load-tail bound.
    least : int
        On every schedule of it.
    """

    made: Callable[[], Plan]
    ticks: int
    least: int

    @property
    def plan(self) -> Plan:
        """The plan."""
        return self.made()


@dataclass(frozen=True)
class LabelOutcome:
    """What one search found.

    Attributes
    ----------
    plans : list of FoundPlan
        Plans below the cutoff, smallest `least` first; with dominance only the best.
    ticks : int
        Lower bound, in ticks, on the head-load-tail bound of every plan that is not in `plans`;
        at most the cutoff.
    complete : bool
        False if time or labels ran out; `plans` then holds at most the best plan so far, and
        `ticks` is a bound on all plans.
    labels : int
        Labels that were made.
    """

    plans: list[FoundPlan]
    ticks: int
    complete: bool
    labels: int
