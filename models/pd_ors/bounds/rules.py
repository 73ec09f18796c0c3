"""Statements about what one job does in one slot, on which branching and cuts rest (reconstructed).

A rule says something of the options of a slot by itself, so that the pricing of schedules can
filter options by it or charge for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gadgetopt.numbers.arrays import Bools, Ints

from ..subproblems.kernel import Use


@dataclass(frozen=True)
class Rule:
    """At least so many workers of a job in a slot; inside one machine, or wherever.

    Attributes
    ----------
    job, slot, workers : int
    internal : bool
    """

    job: int
    slot: int
    workers: int
    internal: bool

    def at(self, slot: int) -> Rule:
        """Return the same of another slot."""
        return replace(self, slot=slot)

    def met(self, use: Use | None) -> bool:
        """Return whether it holds of what the job does in the slot; None is nothing."""
        if use is None:
            return False
        return use.workers >= self.workers and (use.internal or not self.internal)

    def met_by(self, internal: bool, workers: Ints) -> Bools:
        """Return for which numbers of workers it holds in a mode."""
        return (workers >= self.workers) & (internal or not self.internal)
