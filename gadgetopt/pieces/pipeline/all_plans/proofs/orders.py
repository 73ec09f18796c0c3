"""Proofs that no orders of a plan's blocks end before a moment, in whole numbers.

Some optimal schedule serves microbatches by index on every kind of block: sort the starts of each
kind. So what is open of a machine is how many forward blocks are before each backward block. On the
last stage the two blocks of a microbatch follow each other: a forward block between them delays
nothing if it goes after them.

Every block has a head, before which it cannot start: its route, and all blocks that its machine
serves before it for sure. What follows it at least is its tail: the same in reversed time. A pair
of blocks has only one order if the other one takes too long; that leaves fewer orders, and longer
heads. No orders are left if blocks wait for each other, or if blocks of a machine take too long,
from their heads to the shortest of their tails; or if a machine has no sequence of blocks between
their heads and tails (`sequence_loops`).

`OrderProof` says how to divide orders of which some are left: a forward block is after a backward
block, or before it. What is divided is covered, whatever it says, so it needs no belief.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.numbers.exact import ceiling, common_denominator
from gadgetopt.pieces.pipeline.all_plans.proofs.order_loops import bound_of
from gadgetopt.pieces.pipeline.all_plans.proofs.sequence_loops import without_sequence
from gadgetopt.system.data import Data, NonNegativeInt, Rational

#: Steps of loops, M^2 for each machine and part of a proof, that a check takes before they are
#: compiled; and the most on one plan, compiled and with numbers of any size.
#: Tuned: `benchmarks/constants.py`.
MOST_PLAIN, MOST_STEPS, MOST_LARGE_STEPS = 100_000, 10**9, 5 * 10**6
#: Longest schedule for which loops are compiled: sums of three such times fit. By definition.
MOST_COMPILED = 2**60
#: Most microbatches of machines whose sequences are looked at, in tables of their square; and with
#: numbers of any size. Tuned: `benchmarks/pipeline_profiles.py`.
MOST_SEQUENCED, MOST_LARGE_SEQUENCED = 512, 8
#: Parts of what is to be proved to which numbers that are too large are rounded down at first. By
#: definition.
TICKS = 2**52

Time = Annotated[Rational, Field(ge=0)]


class OrderProof(Data):
    """A proof that no orders on machines of some times end before a moment.

    Attributes
    ----------
    fwd_s, bwd_s, allreduce_s : tuple of Fraction
        Times of stage 0, channel 0, stage 1, ...: a plan whose times are none shorter has no
        shorter schedule either.
    in_flight : tuple of int
        Most microbatches in flight on each stage.
    parts : tuple of tuple of int
        Machine q, backward block j and forward block i, from 0, whose order divides what is left:
        first i is after j, then before. Empty where nothing is left.
    """

    fwd_s: tuple[Time, ...]
    bwd_s: tuple[Time, ...]
    allreduce_s: tuple[Time, ...]
    in_flight: tuple[NonNegativeInt, ...]
    parts: tuple[tuple[NonNegativeInt, ...], ...] = ((),)

    @property
    def times(self) -> Times:
        """The times that it is about.

        Raises
        ------
        ValueError
            If they are not of as many machines, or no microbatch may be in flight.
        """
        machines = len(self.fwd_s)
        if not machines == len(self.bwd_s) == len(self.allreduce_s) == 2 * len(self.in_flight) - 1:
            raise ValueError("orders: times of different numbers of stages and channels")
        if min(self.in_flight) < 1:
            raise ValueError("orders: in_flight: 0, expected at least 1 for each stage")
        if any(self.allreduce_s[1::2]):
            raise ValueError("orders: allreduce_s: of a channel")
        return Times(self.fwd_s, self.bwd_s, self.allreduce_s, self.in_flight)


@dataclass(frozen=True)
class Times:
    """Exact times of a plan's stages and channels in seconds, as in `OrderProof`."""

    fwd: tuple[Fraction, ...]
    bwd: tuple[Fraction, ...]
    allreduce: tuple[Fraction, ...]
    in_flight: tuple[int, ...]

    def head_load_tail_s(self, num_microbatches: int, full_duplex: bool) -> Fraction:
        """Return the largest head, load and tail of a machine, in seconds."""
        best, head, tail = Fraction(0), Fraction(0), Fraction(0)
        later = sum(self.fwd, Fraction(0)) + sum(self.bwd, Fraction(0))
        for q, (f, b) in enumerate(zip(self.fwd, self.bwd, strict=True)):
            later -= f + b
            tail = max(tail, self.allreduce[q])
            load = num_microbatches * (f + b)
            if full_duplex and q % 2:  # of one direction, and the way to the end and back
                load = max(num_microbatches * f + b, f + num_microbatches * b) + later
            best = max(best, head + load + tail)
            head, tail = head + f, tail + b
        return best

    def no_shorter_than(self, other: Times) -> bool:
        """Return True if every schedule of this plan is one of the other one's, or longer."""
        if len(self.fwd) != len(other.fwd):
            return False
        mine = (*self.fwd, *self.bwd, *self.allreduce)
        others = (*other.fwd, *other.bwd, *other.allreduce)
        return all(a >= b for a, b in zip(mine, others, strict=True)) and all(
            a <= b for a, b in zip(self.in_flight, other.in_flight, strict=True)
        )


class Orders:
    """All orders of a plan's blocks.

    Parameters
    ----------
    times : Times
    num_microbatches : int
    full_duplex : bool
        True if the two directions of a channel do not share it.
    compiled : bool
        Whether loops may be compiled.
    unit_s : Fraction, optional
        Times are rounded down to multiples of it; by default it is such that they are exact.
    """

    def __init__(
        self,
        times: Times,
        num_microbatches: int,
        full_duplex: bool,
        *,
        compiled: bool = True,
        unit_s: Fraction | None = None,
    ):
        rows = times.fwd, times.bwd, times.allreduce
        self._sort = times, num_microbatches, full_duplex
        if unit_s is None:
            unit_s = Fraction(1, common_denominator(x for row in rows for x in row))
        self.unit_s: Fraction = unit_s
        self.fwd, self.bwd, self.allreduce = ([int(x / self.unit_s) for x in row] for row in rows)
        self.count = num_microbatches
        self.shared: list[bool] = [not (full_duplex and q % 2) for q in range(len(times.fwd))]
        self.in_flight = times.in_flight
        self.steps: int = len(times.fwd) * num_microbatches**2
        longest = self.count * (sum(self.fwd) + sum(self.bwd)) + max(self.allreduce)
        fits = longest < MOST_COMPILED
        self.large: bool = not fits
        self.compiled: bool = compiled and COMPILED and fits
        self.most_steps: int = MOST_STEPS if COMPILED and fits else MOST_LARGE_STEPS

    def rounded(self, bound_s: Fraction) -> Orders | None:
        """Return the same with times rounded down if they are too large to be compiled.

        No schedule of it takes longer. None if they are not, or still are.
        """
        if not self.large or bound_s <= 0:
            return None
        orders = Orders(*self._sort, unit_s=Fraction(bound_s) / TICKS)
        return orders if orders.compiled else None

    def least_s(self, enough_s: Fraction = Fraction(0)) -> Fraction:
        """Return a bound on all orders, in seconds; 0 if it would take too long.

        If it is enough, the bound need not be the best one.
        """
        rounded = self.rounded(enough_s)
        if rounded is not None and (found_s := rounded.least_s()) >= enough_s:
            return found_s
        if self.steps > self.most_steps:
            return Fraction(0)
        run = _Run(self)
        return run.bound(*run.all_orders()) * self.unit_s

    def none_before(self, bound_s: Fraction, parts: Sequence[Sequence[int]]) -> bool:
        """Return True if it is proved that no orders end before a moment.

        Raises
        ------
        ValueError
            If the parts of the proof are no tree, or of blocks that are not there.
        """
        rounded = self.rounded(bound_s)
        if rounded is not None and rounded.none_before(bound_s, parts):
            return True
        below = ceiling(bound_s / self.unit_s)
        too_large = self.compiled and below > MOST_COMPILED  # no schedule takes so long
        if too_large or self.steps * len(parts) > self.most_steps:
            return False
        run = _Run(self)
        waiting, k = [run.all_orders()], 0
        while waiting:
            few, most = waiting.pop()
            if k == len(parts):
                raise ValueError("orders: parts end early")
            if run.bound(few, most, below) >= below or run.without_sequence(few, most, below):
                k = _after(parts, k)
                continue
            if not parts[k]:
                return False
            q, j, i = self._pair(parts[k])
            k += 1
            later, fewer = _copied(few), _copied(most)
            later[q][j:] = [max(x, i + 1) for x in later[q][j:]]
            fewer[q][: j + 1] = [min(x, i) for x in fewer[q][: j + 1]]
            waiting += [(later, most), (few, fewer)]
        if k < len(parts):
            raise ValueError("orders: parts go on after the end")
        return True

    def _pair(self, part: Sequence[int]) -> tuple[int, int, int]:
        if len(part) != 3:
            raise ValueError(f"orders: a part of {len(part)} numbers, expected 3 or none")
        q, j, i = part
        if q >= len(self.fwd) or max(j, i) >= self.count or not self.shared[q]:
            raise ValueError(f"orders: no pair of blocks {j} and {i} of machine {q}")
        return q, j, i


def _after(parts: Sequence[Sequence[int]], k: int) -> int:
    """Return where the tree of parts that begins with the k-th ends."""
    open_parts = 1
    while open_parts and k < len(parts):
        open_parts += 1 if parts[k] else -1
        k += 1
    if open_parts:
        raise ValueError("orders: parts end early")
    return k


def _copied(rows: Any) -> Any:
    return rows.copy() if isinstance(rows, np.ndarray) else [list(row) for row in rows]


class _Run:
    """The loops on the numbers of a plan: as lists of any integers, or compiled on arrays."""

    def __init__(self, orders: Orders):
        self.orders, self.compiled = orders, orders.compiled
        self.numbers = tuple(
            map(self._rows, (orders.fwd, orders.bwd, [0] * len(orders.fwd), orders.allreduce))
        )
        self.shared = self._rows(orders.shared)
        empty = [[0] * orders.count for _ in orders.fwd]
        self.turned = [self._rows(_copied(empty)) for _ in range(2)]
        self.heads = [self._rows(_copied(empty)) for _ in range(4)]
        self._ends: list[Any] = []

    def _rows(self, rows: list[Any]) -> Any:
        return np.array(rows) if self.compiled else rows

    def all_orders(self) -> tuple[Any, Any]:
        """Return how many forward blocks are before each backward block, at least and at most."""
        count, machines = self.orders.count, len(self.orders.fwd)
        few = [list(range(1, count + 1)) for _ in range(machines)]
        most = [[count] * count for _ in range(machines)]
        for n, limit in enumerate(self.orders.in_flight):
            most[2 * n] = [min(count, j + limit) for j in range(count)]
        most[-1] = list(range(1, count + 1))
        return self._rows(few), self._rows(most)

    def bound(self, few: Any, most: Any, below: int = 0) -> int:
        """Return a bound on orders; with `below` only on those that may end before it."""
        loop: Any = bound_of if self.compiled else bound_of.plain
        return int(loop(*self.numbers, self.shared, below, few, most, *self.turned, *self.heads))

    def without_sequence(self, few: Any, most: Any, below: int) -> bool:
        """Return True if no orders end before a moment; heads are those of their bound."""
        count = self.orders.count
        if count > MOST_SEQUENCED or (self.orders.large and count > MOST_LARGE_SEQUENCED):
            return False
        if not self._ends:
            empty = [[0] * (count + 1) for _ in range(count + 1)]
            self._ends = [self._rows(_copied(empty)) for _ in range(2)]
        loop: Any = without_sequence if self.compiled else without_sequence.plain
        fwd, bwd, *_ = self.numbers
        tables = *self.turned, *self.heads, *self._ends
        return bool(loop(fwd, bwd, self.shared, below, few, most, *tables))
