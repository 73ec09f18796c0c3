r"""The one-machine bound on the makespan of a plan: heads, tails, Jackson's preemptive schedule.

Every block has a head, before which it cannot start, and a tail, which has to pass after it. They
follow from the route and from the blocks that machines have to serve before and after it. (Some
optimal schedule serves microbatches by index, so these are known for the m-th block of each type.)
The blocks of one machine with heads and tails are the problem $1 | r_j, q_j, pmtn | C_{max}$, which
always serving the available block of the largest tail solves. Its makespan is a lower bound, never
below that of `bound.head_load_tail`, which is the case of one head and one tail for all blocks.
(J. R. Jackson 1955; J. Carlier 1982.)
"""

from __future__ import annotations

from dataclasses import dataclass

from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.shop import Shop
from gadgetopt.pieces.preemption import preemptive_makespan

Table = list[list[int]]


@dataclass(frozen=True)
class HeadsTails:
    """Heads and tails of all blocks in units, by machine and microbatch m - 1; shapes (2S-1, M)."""

    fwd_head: Table
    bwd_head: Table
    fwd_tail: Table
    bwd_tail: Table


def heads_and_tails(shop: Shop) -> HeadsTails:
    """Return earliest starts, and least times from the ends to the end of the schedule."""
    f, b, a = shop.fwd, shop.bwd, shop.allreduce
    count, last = shop.num_microbatches, shop.num_machines - 1
    size = range(last + 1)
    fwd_head, bwd_head, fwd_tail, bwd_tail = ([[0] * count for _ in size] for _ in range(4))
    for q in size:
        # On the last stage a microbatch's two blocks can be taken as one.
        step = f[q] + (b[q] if q == last else 0)
        before = fwd_head[q - 1] if q else None
        row, ready = fwd_head[q], 0
        for m in range(count):
            if before is not None:
                ready = max(ready, before[m] + f[q - 1])
            row[m] = ready
            ready += step
    for q in reversed(size):
        above = bwd_head[q + 1] if q < last else None
        shared = not (shop.full_duplex and q % 2)
        row, ready, first = bwd_head[q], 0, fwd_head[q][0]
        for m in range(count):
            route = above[m] + b[q + 1] if above is not None else fwd_head[q][m] + f[q]
            ready = max(ready, route)
            if shared:
                ready = max(ready, first + (m + 1) * f[q] + m * b[q])
            row[m] = ready
            ready += b[q]
    for q in size:
        row, least = bwd_tail[q], a[q]
        below = bwd_tail[q - 1] if q else None
        for m in reversed(range(count)):
            if below is not None:
                least = max(least, below[m] + b[q - 1])
            row[m] = least
            least += b[q]
    for q in reversed(size):
        row, least = fwd_tail[q], 0
        above = fwd_tail[q + 1] if q < last else None
        shared = not (shop.full_duplex and q % 2)
        end = bwd_tail[q][count - 1]
        for m in reversed(range(count)):
            route = above[m] + f[q + 1] if above is not None else bwd_tail[q][m] + b[q]
            least = max(least, route)
            if shared:
                least = max(least, end + (count - m) * b[q] + (count - 1 - m) * f[q])
            row[m] = least
            least += f[q]
    _hold_back(shop, fwd_head, bwd_head)
    return HeadsTails(fwd_head, bwd_head, fwd_tail, bwd_tail)


def _hold_back(shop: Shop, fwd_head: Table, bwd_head: Table) -> None:
    """Raise heads of forwards that have to wait for `max_in_flight` on their stage."""
    for n, cap in enumerate(shop.max_in_flight):
        q = 2 * n
        for m in range(cap, shop.num_microbatches):
            ready = bwd_head[q][m - cap] + shop.bwd[q]
            fwd_head[q][m] = max(fwd_head[q][m], ready)


def one_machine_bound(
    shop: Shop, blocks: HeadsTails | None = None, *, enough: int | None = None
) -> int:
    """Return the largest makespan of Jackson's preemptive schedules, in units.

    Parameters
    ----------
    shop : Shop
    blocks : HeadsTails, optional
        Those of the shop, if they are known.
    enough : int, optional
        A bound of so many units need not be improved: machines that are left are not looked at.
    """
    best = head_load_tail(shop).value
    if enough is not None and best >= enough:
        return best
    blocks = blocks or heads_and_tails(shop)
    loads = shop.loads
    for q in sorted(range(shop.num_machines), key=lambda q: -loads[q]):
        if enough is not None and best >= enough:
            break
        fwd = zip(blocks.fwd_head[q], blocks.fwd_tail[q], strict=True)
        bwd = zip(blocks.bwd_head[q], blocks.bwd_tail[q], strict=True)
        forward = [(head, shop.fwd[q], tail) for head, tail in fwd]
        backward = [(head, shop.bwd[q], tail) for head, tail in bwd]
        if shop.full_duplex and q % 2:
            best = max(best, preemptive_makespan(forward), preemptive_makespan(backward))
        else:
            best = max(best, preemptive_makespan(forward + backward))
    return best
