r"""Branching on the schedule columns (10) that keeps the structure of the pricing problem.

Reconstructed. A node fixes for every job the slots in which it may complete and if it has to be
accepted, and for some pairs (job, slot) that a constraint holds or does not: "at least k workers",
or "at least k workers inside one machine". Constraints filter the options of a slot. Branching is,
in this order,

(a) on the completion of a job by slot t, where a fraction of the job completes by then;
(b) on a constraint, where a fraction of the job meets it.

Numbers of workers on a machine are not branched on: machines of equal capacity are alike. Where all
jobs have one completion slot and one option in every slot, the packing onto the machines decides
the node (`branch_and_price.py`).

A schedule that ends before the first slot in which its job may complete counts as ending in that
slot, so that a node excludes no schedule for being fast.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats, Ints

from ...terms import JobTerms
from ..bounds.branching_constraints import BranchingConstraint
from ..bounds.column_generation import Restriction
from ..bounds.restricted_master import Column

#: Closeness to an integer within which a part of a job is none or all of it.
#: Tuned: `benchmarks/constants.py`.
INTEGRAL = 1e-6


@dataclass(frozen=True)
class Node:
    """A node of the tree: the decisions that are fixed.

    Attributes
    ----------
    bound : float
        On the decisions of the node.
    first, last : tuple of int
        Slots between which each job may complete.
    accepted : frozenset of int
        Jobs that have to be accepted.
    constraints : tuple of (BranchingConstraint, bool)
        Each with True if it holds.
    number : int
        Of its place in the tree (`price_proof.py`).
    """

    bound: float
    first: tuple[int, ...]
    last: tuple[int, ...]
    accepted: frozenset[int] = frozenset()
    constraints: tuple[tuple[BranchingConstraint, bool], ...] = field(default=())
    number: int = 0

    def completing(self, job: int, first: int, last: int, accepted: bool) -> Node:
        """Return the node in which a job completes between two slots, or is rejected."""
        return replace(
            self,
            first=_with(self.first, job, max(first, self.first[job])),
            last=_with(self.last, job, min(last, self.last[job])),
            accepted=self.accepted | {job} if accepted else self.accepted,
        )

    def constrained(self, constraint: BranchingConstraint, holds: bool) -> Node:
        """Return the node in which a constraint holds or not; if it holds, its job is accepted."""
        accepted = self.accepted | {constraint.job} if holds else self.accepted
        return replace(
            self, constraints=(*self.constraints, (constraint, holds)), accepted=accepted
        )

    def allows(self, column: Column) -> bool:
        """Return True if a schedule is in the node."""
        i = column.job
        return self.first[i] <= column.completion <= self.last[i] and all(
            constraint.met(column.use(constraint.slot)) == holds
            for constraint, holds in self.constraints
            if constraint.job == i
        )

    def restrictions(self, jobs: Iterable[JobTerms]) -> dict[int, Restriction]:
        """Return the restrictions on the pricing of each job."""
        return {job.index: self._restriction(job) for job in jobs}

    def _restriction(self, job: JobTerms) -> Restriction:
        i = job.index
        by_slot: dict[int, list[tuple[BranchingConstraint, bool]]] = {}
        for constraint, holds in self.constraints:
            if constraint.job == i:
                by_slot.setdefault(constraint.slot, []).append((constraint, holds))
        if not by_slot:
            return Restriction(self.first[i], self.last[i], i in self.accepted)

        def allow(slot: int, internal: bool, workers: Ints) -> Bools:
            out = np.ones(len(workers), dtype=np.bool_)
            for constraint, holds in by_slot.get(slot, ()):
                out &= constraint.met_by(internal, workers) == holds
            return out

        slots = range(job.arrival, job.instance.horizon_slots + 1)
        forced = [any(holds for _, holds in by_slot.get(t, ())) for t in slots]
        return Restriction(self.first[i], self.last[i], i in self.accepted, allow, forced)


def _with(values: tuple[int, ...], at: int, value: int) -> tuple[int, ...]:
    return (*values[:at], value, *values[at + 1 :])


def root(jobs: int, horizon: int) -> Node:
    """Return the root, in which nothing is fixed."""
    return Node(float("inf"), (1,) * jobs, (horizon,) * jobs)


@dataclass(frozen=True)
class Split:
    """A split of the decisions of a node.

    Attributes
    ----------
    words : tuple
        As a line of a proof (`price_tree.py`).
    sides : tuple of Node
        The side where it holds first.
    """

    words: tuple[str | int, ...]
    sides: tuple[Node, Node]


def by_completion(node: Node, columns: Sequence[Column], shares: Floats) -> Split | None:
    """Branch on a completion (a): the job and slot that weigh most; None if all are decided."""
    best, chosen = INTEGRAL, None
    for i, mine in _of_jobs(columns, shares).items():
        slots = sorted({columns[c].completion for c in mine})
        until = 0.0
        for t in slots:
            until += sum(shares[c] for c in mine if columns[c].completion == t)
            worth = max(columns[c].utility for c in mine if columns[c].completion == t)
            weight = min(until, 1 - until)
            if weight > INTEGRAL and weight * (1 + worth) > best:
                best, chosen = weight * (1 + worth), (i, t)
    if chosen is None:
        return None
    i, t = chosen
    horizon = max(node.last)
    early = node.completing(i, 1, t, accepted=True)
    # Not until t: later, or not at all.
    late = node.completing(i, t + 1, horizon, accepted=False)
    return Split(("c", i, t), (early, late))


def by_constraint(node: Node, columns: Sequence[Column], shares: Floats) -> Split | None:
    """Branch on a constraint (b): the share nearest to a half; None if all shares are integer."""
    best, chosen = INTEGRAL, None
    for i, mine in _of_jobs(columns, shares).items():
        constraints = {
            BranchingConstraint(i, use.slot, use.workers, internal)
            for c in mine
            for use in columns[c].uses
            for internal in ((False, True) if use.internal else (False,))
        }
        for constraint in sorted(constraints, key=lambda r: (r.slot, r.workers, r.internal)):
            part = sum(shares[c] for c in mine if constraint.met(columns[c].use(constraint.slot)))
            if min(part, 1 - part) > best:
                best, chosen = min(part, 1 - part), constraint
    if chosen is None:
        return None
    words = ("w", chosen.job, chosen.slot, chosen.workers, int(chosen.internal))
    return Split(words, (node.constrained(chosen, True), node.constrained(chosen, False)))


def _of_jobs(columns: Sequence[Column], shares: Floats) -> dict[int, list[int]]:
    """Return of every job the columns it has a share of."""
    out: dict[int, list[int]] = {}
    for c in np.flatnonzero(shares > INTEGRAL / 100).tolist():
        out.setdefault(columns[c].job, []).append(c)
    return dict(sorted(out.items()))
