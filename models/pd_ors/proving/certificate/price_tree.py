r"""The checker of trees of prices: what branch-and-price proves, without its search.

A tree splits the decisions. At each leaf prices p of resources and charges z of conflicts bound
what the decisions there earn by

.. math::
    D(p, z) = \sum_{t,h,r} C_h^r p_h^r[t] + \sum_{A, t} (|A| - 1) z_A[t] + \sum_i \max_{\pi}
        \Big(u_i - \sum_{t,h,r} p_h^r[t] (\alpha_i^r w^\pi_{ht} + \beta_i^r s^\pi_{ht}) -
        \sum_{A, t: \pi \text{ meets } A} z_A[t]\Big),

the last over the schedules that the path to the leaf leaves, and 0 where a job may be rejected. The
largest bound of the leaves holds for the whole. A conflict A is a set of constraints on different
jobs, each of the kind "at least n workers", "at least n workers inside one machine", that cannot
all be met in a slot: at most |A| - 1 are. It is proved by exhaustion (`slot_refutation.py`).
Decisions that reject a job that earns nothing are enough.

A proof is a text of lines, the tree in preorder. Numbers are integers; slots are counted from 1,
all else from 0; b is 1 for "inside one machine", else 0:

    conflict i n b i n b ...    jobs i with at least n workers do not fit one slot
    c i t                       split: job i is accepted and completes by slot t, then: it does not
    w i t n b                   split: job i has at least n workers in slot t, then: it has not
    l k q P q P ... | c t Z ... leaf: prices P / 2^k of places q, charges Z / 2^k of conflicts c

Conflicts come before the tree. A place q is (slot - 1, row, resource) in row-major order, and its
price is per unit of `Terms.unit`. Both sides of a split together hold every decision, whatever its
numbers are. Nothing in the text says what is proved. (Reconstructed.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain

import numpy as np

from gadgetopt.proofs.tree_kernel import MOST_BINARY_DIGITS, Rejected, tree_of

from ...instance import PdOrsInstance
from .least_costs import AtLeast
from .payoff_bounds import (
    Charge,
    Integers,
    JobLimits,
    payoff_above,
    utilities_above,
)
from .slot_refutation import (
    SlotItem,
    is_refuted,
)

Conflict = tuple[SlotItem, ...]


class Pricing:
    """Bounds of an instance at prices, on all decisions or on those that a path leaves.

    Parameters
    ----------
    instance : PdOrsInstance
    row : sequence of int, shape (machines,)
        For every machine the number of its row of prices, all from 0 on.
    """

    def __init__(self, instance: PdOrsInstance, row: Sequence[int]):
        self.terms = instance.terms
        self.row = list(row)
        capacity = np.zeros((max(row) + 1, len(instance.resources)), dtype=object)
        np.add.at(capacity, self.row, instance.terms.capacity.astype(object))
        self._capacity: Integers = capacity
        self._worth = [utilities_above(job, self.terms.horizon) for job in self.terms.jobs]
        self.shape: tuple[int, ...] = (self.terms.horizon, *capacity.shape)
        #: What no path limits.
        self.free: list[JobLimits] = [JobLimits(1, self.terms.horizon) for _ in self.terms.jobs]

    def bound(
        self,
        price: Integers,
        denominator: int,
        limits: Sequence[JobLimits] | None = None,
        charges: Sequence[tuple[int, Charge]] = (),
    ) -> Fraction | None:
        """Return D; None if a job that has to be accepted cannot be.

        Without the right sides of the charged conflicts.

        Parameters
        ----------
        price : array of int, shape (slots, rows, resources)
            Per unit, times the denominator.
        limits : sequence of JobLimits, shape (jobs,), optional
        charges : sequence of (int, Charge)
            With the job.
        """
        total = Fraction(int((price * self._capacity).sum()), denominator)
        pays: dict[int, list[Charge]] = {}
        for i, charge in charges:
            pays.setdefault(i, []).append(charge)
        for job, limit in zip(self.terms.jobs, limits or self.free, strict=True):
            i = job.index
            payoff = payoff_above(
                job, price, self.row, denominator, self._worth[i], limit, pays.get(i, ())
            )
            if payoff is None:
                return None
            total += payoff
        return total


def tree_bound(pricing: Pricing, lines: Iterable[str]) -> Fraction:
    """Return a bound on the total utility that the text of a tree proves.

    Raises
    ------
    Rejected
        If the text is no proof.
    """
    source = iter(lines)
    conflicts: list[Conflict] = []
    try:
        for line in source:
            kind, *words = line.split()
            if kind == "conflict":
                conflicts.append(_conflict(pricing, list(map(int, words))))
                continue
            path = _Path(pricing, conflicts)
            least = tree_of(_with(line, source), path, path.leaf)
            if next(source, None) is not None:
                raise Rejected("lines after the tree")
            if least is None:
                raise Rejected("no decision is left, not even to reject all jobs")
            return -least
    except Rejected:
        raise
    except (ValueError, IndexError) as error:  # not an integer, or no such job or place
        raise Rejected(str(error)) from None
    raise Rejected("the text ends before its tree does")


def _with(line: str, source: Iterator[str]) -> Iterator[str]:
    return chain((line,), source)


def _conflict(pricing: Pricing, numbers: Sequence[int]) -> Conflict:
    """Return a conflict that is proved."""
    if not numbers or len(numbers) % 3:
        raise Rejected("a conflict that is not of the form `conflict i n b i n b ...`")
    items = tuple(
        SlotItem(*_constraint(pricing, *numbers[k : k + 3])) for k in range(0, len(numbers), 3)
    )
    if len({item.job for item in items}) < len(items):
        raise Rejected("a conflict that has a job twice")
    if not is_refuted(pricing.terms, items):
        raise Rejected("a conflict of jobs that fit into a slot")
    return items


def _constraint(pricing: Pricing, job: int, workers: int, inside: int) -> tuple[int, int, bool]:
    if not 0 <= job < len(pricing.terms.jobs):
        raise Rejected(f"there is no job {job}")
    if not 1 <= workers <= pricing.terms.jobs[job].batch or inside not in (0, 1):
        raise Rejected(f"job {job}: {workers} workers, inside {inside}")
    return job, workers, bool(inside)


class _Path:
    """The limits of the jobs at a place in the tree."""

    def __init__(self, pricing: Pricing, conflicts: Sequence[Conflict]):
        self._pricing, self._conflicts = pricing, conflicts
        self._limits = list(pricing.free)
        #: For each split: its job, the limits before it and on its right side.
        self._splits: list[tuple[int, JobLimits, JobLimits]] = []

    def split(self, words: Sequence[str]) -> None:
        """Go to the left side of a split."""
        kind, *rest = words
        numbers = list(map(int, rest))
        if kind == "c" and len(numbers) == 2:
            i, t = numbers
            _constraint(self._pricing, i, 1, 0)
            before = self._limits[i]
            left = replace(before, last=min(before.last, t), accepted=True)
            right = replace(before, first=max(before.first, t + 1))
        elif kind == "w" and len(numbers) == 4:
            i, t, workers, inside = numbers
            i, workers, whole = _constraint(self._pricing, i, workers, inside)
            self._check_slot(t)
            at, before = AtLeast(t, workers, whole), self._limits[i]
            left = replace(before, rules=(*before.rules, (at, True)), accepted=True)
            right = replace(before, rules=(*before.rules, (at, False)))
        else:
            raise Rejected(f"{' '.join(words)[:20]!r} in place of a split or leaf")
        self._splits.append((i, before, right))
        self._limits[i] = left

    def turn(self) -> None:
        """Go from the left side of the last split to its right side."""
        i, _, right = self._splits[-1]
        self._limits[i] = right

    def leave(self) -> None:
        """Go back to before the last split."""
        i, before, _ = self._splits.pop()
        self._limits[i] = before

    def leaf(self, words: Sequence[str]) -> Fraction | None:
        """Return minus the bound of a leaf, of which the least is taken; None if it is empty."""
        end = words.index("|") if "|" in words else len(words)
        k, *pairs = map(int, words[:end])
        triples = list(map(int, words[end + 1 :]))
        if not 0 <= k <= MOST_BINARY_DIGITS or len(pairs) % 2 or len(triples) % 3:
            raise Rejected("a leaf that is not of the form `l k q P ... | c t Z ...`")
        if min((*pairs, *triples), default=0) < 0:
            raise Rejected("a leaf with a negative number")
        price = np.zeros(self._pricing.shape, dtype=object)
        places = price.ravel()
        for q, p in zip(pairs[::2], pairs[1::2], strict=True):
            places[q] = p
        charges: list[tuple[int, Charge]] = []
        total = 0
        for c, t, amount in zip(triples[::3], triples[1::3], triples[2::3], strict=True):
            self._check_slot(t)
            conflict = self._conflicts[c]
            total += (len(conflict) - 1) * amount
            for item in conflict:
                at = AtLeast(t, item.workers, item.inside)
                charges.append((item.job, Charge(at, amount)))
        bound = self._pricing.bound(price, 1 << k, self._limits, charges)
        return None if bound is None else -(bound + Fraction(total, 1 << k))

    def _check_slot(self, t: int) -> None:
        if not 1 <= t <= self._pricing.terms.horizon:
            raise Rejected(f"there is no slot {t}")
