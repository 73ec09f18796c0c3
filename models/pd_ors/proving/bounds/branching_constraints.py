"""Branching constraints on one job in one slot, which cuts are made of too (reconstructed).

A constraint concerns the options of a single slot, so that the pricing of schedules can filter
options by it or charge for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gadgetopt.numbers.arrays import Bools, Ints

from ...subproblems.kernel import Use


@dataclass(frozen=True)
class BranchingConstraint:
    """A job has at least some number of workers in a slot.

    Attributes
    ----------
    job, slot, workers : int
    internal : bool
        True if they have to be inside one machine.
    """

    job: int
    slot: int
    workers: int
    internal: bool

    def at(self, slot: int) -> BranchingConstraint:
        """Return the same constraint on another slot."""
        return replace(self, slot=slot)

    def met(self, use: Use | None) -> bool:
        """Return True if the constraint holds for a use of the slot; None is no use."""
        if use is None:
            return False
        return use.workers >= self.workers and (use.internal or not self.internal)

    def met_by(self, internal: bool, workers: Ints) -> Bools:
        """Return a mask of the numbers of workers for which the constraint holds in a mode."""
        return (workers >= self.workers) & (internal or not self.internal)
