r"""Optimal orders of a plan's blocks by CP-SAT.

One interval for each block, of integer length; the last stage's two blocks of a microbatch are one
(exchanging a forward that lies between them with the backward delays nothing). Constraints: route,
no overlap on a machine, memory, and

- microbatches in ascending index on every block type. Some optimal schedule has this order: sort
  the starts of each type. It is what makes the model small enough to solve;
- starts between heads and tails, which count the blocks that the same machine has to serve before
  and after.

The model's times are the shop's, divided by a whole number and rounded down. Its optimum is then a
lower bound on the shop's, however coarse it is; the orders are timed again with the shop's times.
"""

from __future__ import annotations

from dataclasses import dataclass

from gadgetopt.errors import SolverError
from gadgetopt.numbers.arrays import Floats
from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.one_machine import HeadsTails, heads_and_tails, one_machine_bound
from gadgetopt.pieces.pipeline.shop import Shop
from gadgetopt.pieces.pipeline.simulator import Schedule, simulate
from gadgetopt.solvers.cpsat import solve_cp, value_of
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.result import Limits, Status

#: The largest load in the model's ticks. By definition.
MOST_TICKS = 2**40


@dataclass(frozen=True)
class ScheduleOutcome:
    """What CP-SAT found of one shop.

    Attributes
    ----------
    schedule : Schedule or None
        The best schedule, also if it is the one given.
    bound : int
        Lower bound on the makespan in units of the shop; a solver's word above `one_machine_bound`.
    closed : bool
        True if no schedule is shorter (than the cutoff) by more than the rounding to ticks.
    limit_hit : str or None
    """

    schedule: Schedule | None
    bound: int
    closed: bool
    limit_hit: str | None


class ScheduleModel:
    """CP-SAT model of the schedules of a shop, one method for each family of constraints.

    Parameters
    ----------
    shop : Shop
        Its units are the model's ticks.
    horizon : int
        No block ends later.
    index_order : bool
        False leaves out the order of microbatches, for comparison.
    """

    def __init__(self, shop: Shop, horizon: int, *, index_order: bool = True):
        self.shop = shop
        self.horizon = horizon
        self.model: cp_model.CpModel = cp_model.CpModel()
        self.last: int = shop.num_machines - 1
        self.count: int = shop.num_microbatches
        self.index_order = index_order
        self.heads_tails: HeadsTails = heads_and_tails(shop)
        self._starts()
        self.microbatches_follow_their_route()
        self.machines_serve_one_block_at_a_time()
        if index_order:
            self.microbatches_are_served_by_index()
        if shop.memory_limited:
            self.stages_hold_few_microbatches()
        self.makespan_follows_the_last_blocks()

    def _starts(self) -> None:
        """Declare starts and intervals; on the last stage one block per microbatch."""
        shop, blocks = self.shop, self.heads_tails
        self.fwd: list[list[cp_model.IntVar]] = []
        self.bwd: list[list[cp_model.IntVar]] = []
        self.blocks: list[list[cp_model.IntervalVar]] = []
        for q in range(self.last):
            f = self._starts_of(shop.fwd[q], blocks.fwd_head[q], blocks.fwd_tail[q])
            b = self._starts_of(shop.bwd[q], blocks.bwd_head[q], blocks.bwd_tail[q])
            self.fwd.append(f)
            self.bwd.append(b)
            self.blocks.append(self._intervals(f, shop.fwd[q]) + self._intervals(b, shop.bwd[q]))
        q, both = self.last, shop.fwd[-1] + shop.bwd[-1]
        merged = self._starts_of(both, blocks.fwd_head[q], blocks.bwd_tail[q])
        self.fwd.append(merged)
        self.bwd.append([])
        self.blocks.append(self._intervals(merged, both))

    def _starts_of(self, length: int, heads: list[int], tails: list[int]) -> list[cp_model.IntVar]:
        """Declare starts of one block type between heads and tails."""
        starts = []
        for m in range(self.count):
            # Without the order by index any microbatch may be the first, or the last.
            head, tail = (heads[m], tails[m]) if self.index_order else (heads[0], tails[-1])
            latest = self.horizon - tail - length
            if latest < head:
                self.model.add_bool_or([])
            starts.append(self.model.new_int_var(head, max(head, latest), ""))
        return starts

    def _intervals(self, starts: list[cp_model.IntVar], size: int) -> list[cp_model.IntervalVar]:
        return [self.model.new_fixed_size_interval_var(start, size, "") for start in starts]

    def microbatches_follow_their_route(self) -> None:
        """A block starts after its predecessor on the route."""
        f, b = self.shop.fwd, self.shop.bwd
        for q in range(1, self.last + 1):
            for m in range(self.count):
                self.model.add(self.fwd[q][m] >= self.fwd[q - 1][m] + f[q - 1])
                above = self.bwd[q][m] + b[q] if q < self.last else self.fwd[q][m] + f[q] + b[q]
                self.model.add(self.bwd[q - 1][m] >= above)

    def machines_serve_one_block_at_a_time(self) -> None:
        """Blocks of a machine, or of one direction of a channel of full duplex, do not overlap."""
        for q, blocks in enumerate(self.blocks):
            if self.shop.full_duplex and q % 2:
                self.model.add_no_overlap(blocks[: self.count])
                self.model.add_no_overlap(blocks[self.count :])
            else:
                self.model.add_no_overlap(blocks)

    def microbatches_are_served_by_index(self) -> None:
        """On every block type, a microbatch follows the one before it."""
        shop = self.shop
        for q in range(self.last + 1):
            length = shop.fwd[q] + (shop.bwd[q] if q == self.last else 0)
            for m in range(1, self.count):
                self.model.add(self.fwd[q][m] >= self.fwd[q][m - 1] + length)
                if q < self.last:
                    self.model.add(self.bwd[q][m] >= self.bwd[q][m - 1] + shop.bwd[q])

    def stages_hold_few_microbatches(self) -> None:
        """A stage has few microbatches between forward start and backward end."""
        for n, cap in enumerate(self.shop.max_in_flight):
            q = 2 * n
            if cap >= self.count or q == self.last:
                continue
            if self.index_order:
                for m in range(cap, self.count):
                    self.model.add(self.fwd[q][m] >= self.bwd[q][m - cap] + self.shop.bwd[q])
                continue
            held = []
            for m in range(self.count):
                size = self.model.new_int_var(0, self.horizon, "")
                end = self.bwd[q][m] + self.shop.bwd[q]
                held.append(self.model.new_interval_var(self.fwd[q][m], size, end, ""))
            self.model.add_cumulative(held, [1] * self.count, cap)

    def makespan_follows_the_last_blocks(self) -> None:
        """The makespan is the end of the last AllReduce; minimise it."""
        shop = self.shop
        blocks = self.heads_tails if self.index_order else None
        least = one_machine_bound(shop, blocks) if blocks else head_load_tail(shop).value
        least = min(least, self.horizon)
        self.makespan: cp_model.IntVar = self.model.new_int_var(least, self.horizon, "makespan")
        for q in range(0, self.last + 1, 2):
            for m in range(self.count):
                if q == self.last:
                    end = self.fwd[q][m] + shop.fwd[q] + shop.bwd[q]
                else:
                    end = self.bwd[q][m] + shop.bwd[q]
                self.model.add(self.makespan >= end + shop.allreduce[q])
        self.model.minimize(self.makespan)

    def hint(self, schedule: Schedule) -> None:
        """Hint a schedule of the same shop."""
        for q in range(self.last + 1):
            for m in range(self.count):
                self.model.add_hint(self.fwd[q][m], schedule.fwd_start[q][m])
                if q < self.last:
                    self.model.add_hint(self.bwd[q][m], schedule.bwd_start[q][m])
        self.model.add_hint(self.makespan, schedule.makespan)

    def orders(self, values: Floats) -> list[list[int]]:
        """Return the orders of an incumbent.

        Of blocks that start together only one has a length, and it is last.
        """
        orders = []
        for q in range(self.last):
            f, b = self.shop.fwd[q], self.shop.bwd[q]
            blocks = [(value_of(values, x), f > 0, m + 1, 0) for m, x in enumerate(self.fwd[q])]
            blocks += [(value_of(values, x), b > 0, m + 1, 1) for m, x in enumerate(self.bwd[q])]
            orders.append([-m if backward else m for _, _, m, backward in sorted(blocks)])
        begun = sorted((value_of(values, x), m + 1) for m, x in enumerate(self.fwd[self.last]))
        orders.append([code for _, m in begun for code in (m, -m)])
        return orders


def cp_schedule(
    shop: Shop,
    limits: Limits,
    seed: int = 0,
    *,
    start: Schedule | None = None,
    cutoff: int | None = None,
    index_order: bool = True,
    most_ticks: int = MOST_TICKS,
) -> ScheduleOutcome:
    """Return the shortest schedule of a shop that CP-SAT finds, and a lower bound.

    Parameters
    ----------
    shop : Shop
    limits : Limits
    seed : int
    start : Schedule, optional
        A schedule of the shop to begin with.
    cutoff : int, optional
        Only schedules shorter than this many units are wanted, and than `start`; the bound says no
        more.
    index_order : bool
        False leaves out the order of microbatches, for comparison.
    most_ticks : int
        The largest load of the model in ticks: fewer ticks are coarser.
    """
    least = one_machine_bound(shop) if index_order else head_load_tail(shop).value
    known = [cutoff, start.makespan if start else None, _longest(shop) + 1]
    wanted = min(x for x in known if x is not None)
    if wanted <= least:
        return ScheduleOutcome(start, min(least, wanted), True, None)
    coarse = shop.coarser(most_ticks)
    divisor = int(coarse.unit / shop.unit)
    horizon = (wanted - 1) // divisor
    model = ScheduleModel(coarse, horizon, index_order=index_order)
    if start is not None:
        again = simulate(coarse, start.orders)
        if again.makespan <= horizon:
            model.hint(again)
    solved = solve_cp(model.model, limits, seed)
    if solved.status is Status.ERROR:
        raise SolverError(solved.reason or "CP-SAT failed")
    best, bound = start, least
    if solved.values is not None:
        found = simulate(shop, model.orders(solved.values))
        if best is None or found.makespan < best.makespan:
            best = found
    if solved.status is Status.INFEASIBLE:
        bound = max(bound, wanted)
    elif solved.bound is not None:
        bound = max(bound, min(wanted, int(solved.bound) * divisor))
    closed = solved.status in (Status.OPTIMAL, Status.INFEASIBLE)
    if best is not None and best.makespan < wanted:
        bound = min(bound, best.makespan)
    return ScheduleOutcome(best, bound, closed, None if closed else solved.limit_hit)


def _longest(shop: Shop) -> int:
    """Return the makespan of serving one block at a time."""
    blocks = shop.num_microbatches * (sum(shop.fwd) + sum(shop.bwd))
    return blocks + max(shop.allreduce)
