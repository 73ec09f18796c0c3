"""Plans of several copies of the pipeline: outlines, where their GPUs can be, and orders.

1. All outlines whose bound is below the incumbent (`proving.certificate.copies`): layers and GPUs
   of the stages of a copy.
2. Of each, all ways to place the copies in machines, up to copies and machines that are alike.
3. The shortest orders of every copy, one after the other: given where they are, no copy waits for
   another but at the end. Branch and bound, and CP-SAT for what that leaves open.
4. The certificate: proofs about the orders of what outlines leave open.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.exact import ceiling
from gadgetopt.pieces.pipeline.all_plans.proofs.orders import OrderProof, Times
from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.cp_schedule import cp_schedule
from gadgetopt.pieces.pipeline.exact_orders.order_search import shortest_orders
from gadgetopt.pieces.pipeline.improvement import short_schedule
from gadgetopt.pieces.pipeline.shop import Shop, shop_of_times
from gadgetopt.pieces.pipeline.simulator import Schedule, simulate
from gadgetopt.search.state import Search

from ...instance import Copy, DappleInstance, DappleSolution
from ...subproblems.copies import Sets, shops_of_copies, solution_of_copies
from ..certificate.copies import Outline, Outlines, unproved

#: Blocks that branch and bound may look at for one copy, about 20 microseconds each.
#: Tuned: `benchmarks/constants.py`.
MOST_WORK = 50_000

#: GPUs of each machine in the stages of a copy.
Pattern = tuple[tuple[int, ...], ...]


@dataclass
class CopiesSearch:
    """A search of the plans of several copies.

    Attributes
    ----------
    instance : DappleInstance
    search : Search
        Incumbent and time; has an incumbent.
    rng : numpy.random.Generator
    complete : bool
        False once something was left open.
    """

    instance: DappleInstance
    search: Search[DappleSolution]
    rng: np.random.Generator
    complete: bool = True
    _schedules: dict[Shop, Schedule | None] = field(default_factory=dict)

    def run(self, copies: int) -> None:
        """Find what is shorter than the incumbent among plans of so many copies."""
        limit_s, done = [Fraction(self.search.value)], set()
        try:
            for outline in Outlines(self.instance, copies).below(limit_s):
                if self.search.clock.expired:
                    self.complete = False
                    return
                if (outline.stage_layers, outline.replicas) not in done:
                    done.add((outline.stage_layers, outline.replicas))
                    self._place(outline, copies)
                    limit_s[0] = Fraction(self.search.value)
        except ValueError:  # too many outlines
            self.complete = False

    def _place(self, outline: Outline, copies: int) -> None:
        for sets in placements(self.instance, copies, outline.replicas):
            if self.search.clock.expired:
                self.complete = False
                return
            shops = shops_of_copies(self.instance, outline.stage_layers, sets)
            if max(head_load_tail(shop).value_s for shop in shops) >= self.search.value:
                continue
            schedules = []
            for shop in shops:
                schedule = self._shortest(shop)
                if schedule is None:
                    break
                schedules.append(schedule)
            else:
                self._offer(outline, sets, schedules)

    def _offer(self, outline: Outline, sets: Sequence[Sets], schedules: Sequence[Schedule]) -> None:
        parts = [
            Copy(stage_devices=own, orders=tuple(map(tuple, schedule.orders)))
            for own, schedule in zip(sets, schedules, strict=True)
        ]
        makespan_s = max(schedule.makespan_s for schedule in schedules)
        self.search.offer(makespan_s, solution_of_copies(outline.stage_layers, parts))

    def _shortest(self, shop: Shop) -> Schedule | None:
        """Return the shortest schedule of a copy; None if none is shorter than the incumbent."""
        if shop not in self._schedules:
            self._schedules[shop] = self._searched(shop)
        found = self._schedules[shop]
        return found if found is not None and found.makespan_s < self.search.value else None

    def _searched(self, shop: Shop) -> Schedule | None:
        bound = head_load_tail(shop).value
        schedule = short_schedule(shop, bound)
        if schedule.makespan == bound:
            return schedule
        below = min(schedule.makespan, ceiling(Fraction(self.search.value) / shop.unit))
        known = schedule if schedule.makespan <= below else None
        found = shortest_orders(shop, below, MOST_WORK, self.search.clock)
        if found.complete:
            return known if found.orders is None else simulate(shop, found.orders)
        solved = cp_schedule(
            shop, self.search.clock.limits(), int(self.rng.integers(2**31 - 1)), cutoff=below
        )
        self.complete = self.complete and solved.closed
        return known if solved.schedule is None else solved.schedule

    def order_proofs(self, copies: int) -> tuple[OrderProof, ...]:
        """Return proofs that the orders of outlines are no shorter than the incumbent."""
        value_s = Fraction(self.search.value)
        proofs: dict[Times, OrderProof] = {}
        for outline, _ in unproved(self.instance, copies, value_s):
            times = outline.times
            if self.search.clock.expired or times in proofs:
                continue
            shop = shop_of_times(
                times.fwd,
                times.bwd,
                times.allreduce,
                self.instance.num_microbatches // copies,
                full_duplex=self.instance.duplex == "full",
                max_in_flight=times.in_flight,
            )
            below = ceiling(value_s / shop.unit)
            found = shortest_orders(shop, below, MOST_WORK, self.search.clock)
            if found.complete and found.orders is None:
                proofs[times] = OrderProof(
                    fwd_s=times.fwd,
                    bwd_s=times.bwd,
                    allreduce_s=times.allreduce,
                    in_flight=times.in_flight,
                    parts=tuple(found.parts),
                )
        return tuple(proofs.values())


def placements(
    instance: DappleInstance, copies: int, replicas: Sequence[int]
) -> Iterator[list[Sets]]:
    """Yield where the stages of copies can be, up to copies and machines that are alike."""
    for patterns in _patterns(instance, copies, replicas):
        free = [list(gpus) for gpus in instance.cluster.machine_gpus]
        sets = []
        for pattern in patterns:
            own = []
            for counts in pattern:
                taken = [v for k, count in enumerate(counts) for v in free[k][:count]]
                free = [gpus[count:] for gpus, count in zip(free, counts, strict=True)]
                own.append(tuple(taken))
            sets.append(tuple(own))
        yield sets


def _patterns(
    instance: DappleInstance, copies: int, replicas: Sequence[int]
) -> Iterator[tuple[Pattern, ...]]:
    """Yield multisets of patterns of so many copies that fit in the machines together."""
    sizes = instance.cluster.gpus_per_machine
    alike = list(zip(sizes, instance.cluster.machine_speeds, strict=True))

    def grown(known: tuple[Pattern, ...], seen: set[tuple[Pattern, ...]]) -> Iterator[Pattern]:
        used = [sum(counts[k] for p in known for counts in p) for k in range(len(sizes))]
        free = tuple(size - taken for size, taken in zip(sizes, used, strict=True))
        fresh = [taken == 0 for taken in used]
        for pattern in _one_copy(free, replicas):
            key = tuple(sorted((*known, pattern)))
            if key not in seen and _sorted(pattern, fresh, alike):
                seen.add(key)
                yield pattern

    def level(known: tuple[Pattern, ...]) -> Iterator[tuple[Pattern, ...]]:
        if len(known) == copies:
            yield known
            return
        for pattern in grown(known, visited[len(known)]):
            yield from level((*known, pattern))

    visited: list[set[tuple[Pattern, ...]]] = [set() for _ in range(copies)]
    yield from level(())


def _one_copy(free: tuple[int, ...], replicas: Sequence[int]) -> Iterator[Pattern]:
    """Yield the patterns of a copy that fit in what is free."""
    if not replicas:
        yield ()
        return
    for counts in _split(free, replicas[0]):
        left = tuple(a - b for a, b in zip(free, counts, strict=True))
        for rest in _one_copy(left, replicas[1:]):
            yield (counts, *rest)


def _split(free: tuple[int, ...], need: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to take so many GPUs of what machines have free."""
    if not free:
        if need == 0:
            yield ()
        return
    for count in range(min(free[0], need), -1, -1):
        for rest in _split(free[1:], need - count):
            yield (count, *rest)


def _sorted(pattern: Pattern, fresh: Sequence[bool], alike: Sequence[object]) -> bool:
    """Return False if exchanging two unused machines that are alike gives an earlier pattern."""
    columns = list(zip(*pattern, strict=True))
    return all(
        columns[k] >= columns[j]
        for k, j in itertools.combinations(range(len(columns)), 2)
        if fresh[k] and fresh[j] and alike[k] == alike[j]
    )
