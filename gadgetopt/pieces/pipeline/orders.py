"""Orders of blocks on the machines of a shop.

The orders serve microbatches in ascending index on every block type: some optimal schedule does,
because the starts of each block type can be sorted.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from gadgetopt.pieces.pipeline.shop import Shop

OrderLists = list[list[int]]


def all_forward_first(num_microbatches: int) -> list[int]:
    """Return the order of GPipe on one machine: all forward blocks, then all backward blocks."""
    count = num_microbatches
    return [*range(1, count + 1), *range(-1, -count - 1, -1)]


def one_forward_one_backward(num_microbatches: int, warmup: int) -> list[int]:
    """Return an order with `warmup` forwards, then backward and forward in turn, then backwards."""
    count = num_microbatches
    warmup = max(1, min(warmup, count))
    order = list(range(1, warmup + 1))
    for m in range(1, count - warmup + 1):
        order += [-m, warmup + m]
    order += range(-(count - warmup) - 1, -count - 1, -1)
    return order


def gpipe_orders(shop: Shop) -> OrderLists:
    """Return the order of GPipe on every machine."""
    return [all_forward_first(shop.num_microbatches) for _ in range(shop.num_machines)]


def warmup_orders(shop: Shop, warmups: Sequence[int]) -> OrderLists:
    """Return 1F1B on every machine, channels included.

    Parameters
    ----------
    shop : Shop
    warmups : sequence of int
        Forwards before the first backward of each machine q. Length 2S-1.
    """
    return [one_forward_one_backward(shop.num_microbatches, k) for k in warmups]


def round_orders(shop: Shop) -> OrderLists:
    """Return the orders of rounds.

    Round t takes block j of a microbatch's J = 4S-3 blocks (the last stage's two count as one)
    for microbatch t - j + 1, later blocks first. A machine whose forward is block j and whose
    backward is block j' so runs j' - j forwards before its first backward, then one backward and
    one forward in turn. A stage's `max_in_flight` limits the number of forwards, there and after.
    """
    last = shop.num_machines - 1
    return warmup_orders(shop, allowed_warmups(shop, [2 * (last - q) for q in range(last + 1)]))


def allowed_warmups(shop: Shop, warmups: Sequence[int]) -> list[int]:
    """Return warm-ups, at least 1, that respect `max_in_flight` and cannot deadlock.

    No machine may want more forwards before its first backward than the machine before it.
    """
    allowed: list[int] = []
    for q, warmup in enumerate(warmups):
        most = allowed[-1] if q else shop.num_microbatches
        if q % 2 == 0:
            most = min(most, shop.max_in_flight[q // 2])
        allowed.append(max(1, min(warmup, most)))
    return allowed


def orders_of_starts(
    shop: Shop, starts: tuple[Sequence[Sequence[float]], Sequence[Sequence[float]]], tie: float
) -> OrderLists:
    """Return orders without deadlock in which blocks start as a solver says.

    Starts alone do not say in which order a machine serves blocks that take no time. Of blocks that
    start together those without length come first, by microbatch and along the route.

    Parameters
    ----------
    shop : Shop
    starts : pair of sequences, shape (2S-1, M)
        Starts of forward and of backward blocks, in any unit of time.
    tie : float
        Starts that differ by no more are the same, in that unit.
    """
    last, count = shop.num_machines - 1, shop.num_microbatches
    moments = _moments([start for rows in starts for row in rows for start in row], tie)
    route = [(0, q) for q in range(last + 1)] + [(1, q) for q in range(last, -1, -1)]
    times = shop.fwd, shop.bwd

    def key(m: int, step: int) -> tuple[int, bool, int, int]:
        direction, q = route[step]
        return moments[starts[direction][q][m - 1]], times[direction][q] > 0, m, step

    orders: OrderLists = [[] for _ in range(last + 1)]
    ready = [key(m, 0) for m in range(1, count + 1)]
    heapq.heapify(ready)
    while ready:
        *_, m, step = heapq.heappop(ready)
        direction, q = route[step]
        orders[q].append(-m if direction else m)
        if step + 1 < len(route):
            heapq.heappush(ready, key(m, step + 1))
    return orders


def _moments(starts: Sequence[float], tie: float) -> dict[float, int]:
    """Return the rank of each start among the moments at which something starts."""
    ranks: dict[float, int] = {}
    before = None
    for start in sorted(set(starts)):
        apart = before is not None and start - before > tie
        ranks[start] = (ranks[before] if before is not None else 0) + apart
        before = start
    return ranks
