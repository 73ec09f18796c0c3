"""Schedules of a shop: start times from the orders of the machines, and what is wrong with either.

An order is timed as a longest path: every block starts as soon as its predecessor on the route and
its predecessor on the machine have ended. Each block is visited once, so the time is O(M S).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.pieces.pipeline.shop import Shop
from gadgetopt.system.result import Violation

Orders = Sequence[Sequence[int]]


class DeadlockError(ValueError):
    """Orders whose blocks wait for each other.

    Attributes
    ----------
    waiting : list of (int, int)
        Machine and code of the next block of each machine that is not done.
    """

    def __init__(self, waiting: list[tuple[int, int]]):
        self.waiting = waiting
        blocks = ", ".join(f"{block_name(q, code)}" for q, code in waiting)
        super().__init__(f"deadlock: these blocks wait for each other: {blocks}")


@dataclass(frozen=True)
class Schedule:
    """Start times of all blocks, in units of the shop.

    Attributes
    ----------
    shop : Shop
    orders : list of list of int
        Codes of the blocks of each machine, in the order of their starts.
    fwd_start, bwd_start : list of list of int
        Starts on machine q of microbatch m + 1. Shapes (2S-1, M).
    """

    shop: Shop
    orders: list[list[int]]
    fwd_start: list[list[int]]
    bwd_start: list[list[int]]

    @property
    def makespan(self) -> int:
        """End of the last AllReduce, in units."""
        return max(self.stage_ends)

    @property
    def makespan_s(self) -> Fraction:
        """End of the last AllReduce in seconds, exactly."""
        return self.makespan * self.shop.unit

    @property
    def stage_ends(self) -> list[int]:
        """End of each stage's AllReduce, in units. Length S."""
        shop = self.shop
        last = [max(self.bwd_start[q]) + shop.bwd[q] for q in range(0, shop.num_machines, 2)]
        return [end + shop.allreduce[2 * n] for n, end in enumerate(last)]

    @property
    def idle_fractions(self) -> list[float]:
        """Share of the makespan in which each stage processes no block. Length S."""
        shop, total = self.shop, self.makespan
        busy = [
            shop.num_microbatches * (shop.fwd[q] + shop.bwd[q])
            for q in range(0, shop.num_machines, 2)
        ]
        return [1 - x / total if total else 0.0 for x in busy]

    @property
    def peaks_in_flight(self) -> list[int]:
        """Most microbatches in flight at a time on each stage. Length S."""
        return [peak_in_flight(order) for order in self.orders[::2]]


def block_name(q: int, code: int) -> str:
    """Return a block in words, such as "forward 3 of stage 1"."""
    machine = f"channel {q // 2}" if q % 2 else f"stage {q // 2}"
    return f"{'forward' if code > 0 else 'backward'} {abs(code)} of {machine}"


def peak_in_flight(order: Sequence[int]) -> int:
    """Return the most microbatches that have started forward and not ended backward."""
    flying = peak = 0
    for code in order:
        flying += 1 if code > 0 else -1
        peak = max(peak, flying)
    return peak


def simulate(shop: Shop, orders: Orders) -> Schedule:
    """Return the schedule in which every block starts as early as the orders allow.

    Parameters
    ----------
    shop : Shop
    orders : sequence of sequence of int
        For each machine q = 0..2S-2 the codes +m, -m of all its blocks.

    Raises
    ------
    DeadlockError
        If blocks wait for each other.
    ValueError
        If an order does not list every block once.
    """
    wrong = next(order_violations(shop, orders), None)
    if wrong is not None:
        raise ValueError(f"orders: {wrong}")
    last, count = shop.num_machines - 1, shop.num_microbatches
    lists, machine_of, times = _single_lists(shop, orders)
    # Ends of blocks; index m of machine q, None while a block has not run.
    ends_f: list[list[int | None]] = [[None] * (count + 1) for _ in range(last + 1)]
    ends_b: list[list[int | None]] = [[None] * (count + 1) for _ in range(last + 1)]
    position, free = [0] * len(lists), [0] * len(lists)
    serving_f = {q: i for i, (q, forward, _) in enumerate(machine_of) if forward}
    serving_b = {q: i for i, (q, _, backward) in enumerate(machine_of) if backward}
    stack = list(range(len(lists)))
    on_stack = [True] * len(lists)
    while stack:
        i = stack.pop()
        on_stack[i] = False
        q = machine_of[i][0]
        order, k, now = lists[i], position[i], free[i]
        f, b = times[i]
        before = ends_f[q - 1] if q else None
        after = ends_b[q + 1] if q < last else ends_f[q]
        own_f, own_b = ends_f[q], ends_b[q]
        started, ahead, back = k, False, False
        while k < len(order):
            m = order[k]
            if m > 0:
                ready = 0 if before is None else before[m]
                if ready is None:
                    break
                now = (now if now > ready else ready) + f
                own_f[m] = now
                ahead = True
            else:
                m = -m
                ready = after[m]
                if ready is None:
                    break
                now = (now if now > ready else ready) + b
                own_b[m] = now
                back = True
            k += 1
        position[i], free[i] = k, now
        if k == started:
            continue
        woken = []
        if ahead:
            woken.append(serving_f[q + 1] if q < last else serving_b[q])
        if back and q:
            woken.append(serving_b[q - 1])
        for j in woken:
            if j != i and not on_stack[j]:
                on_stack[j] = True
                stack.append(j)
    waiting = [
        (machine_of[i][0], order[position[i]])
        for i, order in enumerate(lists)
        if position[i] < len(order)
    ]
    if waiting:
        raise DeadlockError(waiting)
    fwd = [[e - f for e in row[1:]] for row, f in zip(ends_f, shop.fwd, strict=True)]  # type: ignore[operator]
    bwd = [[e - b for e in row[1:]] for row, b in zip(ends_b, shop.bwd, strict=True)]  # type: ignore[operator]
    return Schedule(shop, [list(order) for order in orders], fwd, bwd)


def _single_lists(
    shop: Shop, orders: Orders
) -> tuple[list[Sequence[int]], list[tuple[int, bool, bool]], list[tuple[int, int]]]:
    """Return a list for each machine, two for a channel of full duplex.

    Also returned: machine q of each list and which directions it serves, and its f and b.
    """
    lists: list[Sequence[int]] = []
    serves: list[tuple[int, bool, bool]] = []
    for q, order in enumerate(orders):
        if shop.full_duplex and q % 2:
            lists += [[m for m in order if m > 0], [m for m in order if m < 0]]
            serves += [(q, True, False), (q, False, True)]
        else:
            lists.append(order)
            serves.append((q, True, True))
    return lists, serves, [(shop.fwd[q], shop.bwd[q]) for q, _, _ in serves]


def order_violations(shop: Shop, orders: Orders) -> Iterator[Violation]:
    """Yield what is wrong with orders: missing or repeated blocks, too many in flight."""
    if len(orders) != shop.num_machines:
        apart = abs(len(orders) - shop.num_machines)
        yield Violation("every machine has an order", "orders", apart)
        return
    count = shop.num_microbatches
    everything = {*range(1, count + 1), *range(-count, 0)}
    complete = True
    for q, order in enumerate(orders):
        listed = set(order)
        wrong = len(everything - listed) + len(listed - everything) + len(order) - len(listed)
        if wrong:
            complete = False
            yield Violation("an order lists each block once", machine_name(q), wrong)
    if complete:
        for n, cap in enumerate(shop.max_in_flight):
            over = peak_in_flight(orders[2 * n]) - cap
            if over > 0:
                yield Violation("microbatches in flight", f"stage {n}", over)


def machine_name(q: int) -> str:
    """Return "stage n" or "channel n"."""
    return f"channel {q // 2}" if q % 2 else f"stage {q // 2}"
