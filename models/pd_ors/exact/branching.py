r"""Branching on the schedule columns (10) that leaves pricing what it is (reconstructed).

A node says for every job in which slots it may complete and whether it has to be accepted, and for
some (job, slot) whether a rule holds: "at least k workers", or "at least k workers inside one
machine". Rules filter the options of a slot. Branching is, in this order,

(a) on a job's completion until slot t, where a part of the job completes until then;
(b) on a rule, where a part of the job meets it.

Bounds on the workers of each machine are not branched on: between machines of equal capacity they
leave no difference. Where all jobs have one completion and do one thing in every slot, it is
decided whether that fits on the machines (`branch_and_price.py`).

A schedule that is done before the first slot in which its job may complete counts as done in that
slot, so that nothing has to be slow to be in a node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats, Ints

from ..bounds.column_generation import Restriction
from ..bounds.restricted_master import Column
from ..bounds.rules import Rule
from ..terms import JobTerms

#: Closeness to an integer within which a part of a job is none or all of it.
INTEGRAL = 1e-6


@dataclass(frozen=True)
class Node:
    """What is decided.

    Attributes
    ----------
    bound : float
        On the decisions of the node.
    first, last : tuple of int
        Slots between which each job may complete.
    accepted : frozenset of int
        Jobs that have to be.
    rules : tuple of (Rule, bool)
        And whether they hold.
    """

    bound: float
    first: tuple[int, ...]
    last: tuple[int, ...]
    accepted: frozenset[int] = frozenset()
    rules: tuple[tuple[Rule, bool], ...] = field(default=())

    def completing(self, job: int, first: int, last: int, accepted: bool) -> Node:
        """Return the node in which a job completes between two slots, or is rejected."""
        return replace(
            self,
            first=_with(self.first, job, max(first, self.first[job])),
            last=_with(self.last, job, min(last, self.last[job])),
            accepted=self.accepted | {job} if accepted else self.accepted,
        )

    def ruled(self, rule: Rule, holds: bool) -> Node:
        """Return the node in which a rule holds or does not; a job that is to meet one is taken."""
        accepted = self.accepted | {rule.job} if holds else self.accepted
        return replace(self, rules=(*self.rules, (rule, holds)), accepted=accepted)

    def allows(self, column: Column) -> bool:
        """Return whether a schedule is in the node."""
        i = column.job
        return self.first[i] <= column.completion <= self.last[i] and all(
            rule.met(column.use(rule.slot)) == holds for rule, holds in self.rules if rule.job == i
        )

    def restrictions(self, jobs: Iterable[JobTerms]) -> dict[int, Restriction]:
        """Return what the pricing of each job has to respect."""
        return {job.index: self._restriction(job) for job in jobs}

    def _restriction(self, job: JobTerms) -> Restriction:
        i = job.index
        by_slot: dict[int, list[tuple[Rule, bool]]] = {}
        for rule, holds in self.rules:
            if rule.job == i:
                by_slot.setdefault(rule.slot, []).append((rule, holds))
        if not by_slot:
            return Restriction(self.first[i], self.last[i], i in self.accepted)

        def allow(slot: int, internal: bool, workers: Ints) -> Bools:
            out = np.ones(len(workers), dtype=np.bool_)
            for rule, holds in by_slot.get(slot, ()):
                out &= rule.met_by(internal, workers) == holds
            return out

        slots = range(job.arrival, job.instance.horizon_slots + 1)
        forced = [any(holds for _, holds in by_slot.get(t, ())) for t in slots]
        return Restriction(self.first[i], self.last[i], i in self.accepted, allow, forced)


def _with(values: tuple[int, ...], at: int, value: int) -> tuple[int, ...]:
    return (*values[:at], value, *values[at + 1 :])


def root(jobs: int, horizon: int) -> Node:
    """Return the node in which nothing is decided."""
    return Node(float("inf"), (1,) * jobs, (horizon,) * jobs)


def by_completion(node: Node, columns: Sequence[Column], shares: Floats) -> list[Node] | None:
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
    return [
        node.completing(i, 1, t, accepted=True),
        # Not until t: later, or not at all.
        node.completing(i, t + 1, horizon, accepted=False),
    ]


def by_rule(node: Node, columns: Sequence[Column], shares: Floats) -> list[Node] | None:
    """Branch on a rule (b): the one nearest to a half; None if all jobs do one thing in a slot."""
    best, chosen = INTEGRAL, None
    for i, mine in _of_jobs(columns, shares).items():
        rules = {
            Rule(i, use.slot, use.workers, internal)
            for c in mine
            for use in columns[c].uses
            for internal in ((False, True) if use.internal else (False,))
        }
        for rule in sorted(rules, key=lambda r: (r.slot, r.workers, r.internal)):
            part = sum(shares[c] for c in mine if rule.met(columns[c].use(rule.slot)))
            if min(part, 1 - part) > best:
                best, chosen = min(part, 1 - part), rule
    if chosen is None:
        return None
    return [node.ruled(chosen, True), node.ruled(chosen, False)]


def _of_jobs(columns: Sequence[Column], shares: Floats) -> dict[int, list[int]]:
    """Return of every job the columns it has a share of."""
    out: dict[int, list[int]] = {}
    for c in np.flatnonzero(shares > INTEGRAL / 100).tolist():
        out.setdefault(columns[c].job, []).append(c)
    return dict(sorted(out.items()))
