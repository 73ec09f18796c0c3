r"""Lower bounds on makespan and period by formulas, in ticks: (B1)-(B5).

Of a stage s on device d, :math:`h_s` is the head, :math:`R_s` the time between F and I of one
microbatch, :math:`L_d` the load, :math:`\Phi` the most work that memory allows at a moment (a
knapsack). Microbatches run in their order on every stage, which costs nothing (D1). A makespan
counts from 0, a period from the begin of a device: its heads are taken from the device's first
stage on.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from .shop import Shop

#: The largest table of a knapsack; beyond, parts of microbatches are taken.
#: Tuned: `benchmarks/constants.py`.
MOST_CELLS = 20_000

#: Work, memory, and how many there are at most.
Item = tuple[int, int, int]


def most_work(items: Iterable[Item], capacity: int | None) -> int:
    """Return an upper bound on the work of items that fit into memory; exact if it is coarse."""
    free = sum(work * count for work, size, count in items if not size)
    sized = [item for item in items if item[1]]
    everything = sum(size * count for _, size, count in sized)
    if capacity is None or everything <= capacity:
        return free + sum(work * count for work, _, count in sized)
    if capacity < 0:
        return free
    unit = gcd(*(size for _, size, _ in sized))
    cells = capacity // unit
    if cells > MOST_CELLS:
        return free + _in_parts(sized, capacity)
    best = [0] * (cells + 1)
    for work, size, count in sized:
        for _ in range(min(count, cells * unit // size)):
            step = size // unit
            for room in range(cells, step - 1, -1):
                best[room] = max(best[room], best[room - step] + work)
    return free + best[cells]


def _in_parts(items: Iterable[Item], capacity: int) -> int:
    """Return the most work if the last item may be taken in part, rounded up."""
    total, room = 0, capacity
    for work, size, count in sorted(items, key=lambda item: -item[0] / item[1]):
        taken = min(room, size * count)
        total -= -work * taken // size
        room -= taken
    return total


def _capacity(shop: Shop, device: int) -> int | None:
    return None if shop.capacity is None else shop.capacity[device]


def _warm_up_idle(shop: Shop, device: int) -> int:
    """Return how long a device is idle at least between its begin and its first I.

    Until then only forwards run, at most as many as memory holds.
    """
    stages = shop.on_device[device]
    wait = min(
        shop.head[s] + shop.f[s] + shop.between[s] - shop.head[_first(shop, s)] for s in stages
    )
    forwards = [(shop.f[s], shop.a[s], shop.microbatches[s]) for s in stages]
    return max(0, wait - most_work(forwards, _capacity(shop, device)))


def _first(shop: Shop, s: int) -> int:
    """Return the first stage of the route of a stage that is on its device."""
    first = shop.first_of(shop.device[s], shop.route_of[s])
    return s if first is None else first


def _begin(shop: Shop, device: int) -> int:
    return 0 if shop.period else min(shop.head[s] for s in shop.on_device[device])


def _end(shop: Shop, device: int) -> int:
    return min(shop.allreduce[s] for s in shop.on_device[device])


def load_bound(shop: Shop, device: int) -> int:
    r"""(B1): :math:`h + L_d + \min A`, all that a device does."""
    load = sum(map(shop.load, shop.on_device[device]))
    return _begin(shop, device) + load + _end(shop, device)


def warm_up_bound(shop: Shop, device: int) -> int:
    r"""(B3): the load, and what is idle before the first I.

    The first I on d starts no sooner than :math:`u = \min_s (h_s + f_s + R_s)`, and until then only
    forwards run, of at most :math:`\Phi` work: :math:`Z \ge L_d + u - \Phi + \min A`.
    """
    return load_bound(shop, device) + _warm_up_idle(shop, device)


def windows_bound(shop: Shop, device: int) -> int:
    r"""(B4): the load, and what is idle before the first I and after the last F.

    Let s be the last stage of the device, all of one route. Between the end of its last F and the
    start of I of that microbatch, :math:`R_s`, no F is left, and memory holds at most
    :math:`\Phi'` work beside it. If memory does not hold all forwards, some I is before the last F,
    so that the two windows are disjoint and their idle times add. If it does, it is (B3).
    """
    stages = shop.on_device[device]
    bound, capacity = warm_up_bound(shop, device), _capacity(shop, device)
    if capacity is None or any(s not in shop.route_of[stages[0]] for s in stages):
        return bound
    if sum(shop.a[s] * shop.microbatches[s] for s in stages) <= capacity:
        return bound
    last = stages[-1]
    waiting = [
        item
        for s in stages
        for item in (
            (shop.i[s] + shop.w[s], shop.a[s], shop.microbatches[s] - (s == last)),
            (shop.w[s], shop.g[s], shop.microbatches[s] - (s == last)),
        )
    ]
    most = most_work(waiting, capacity - shop.a[last])
    return bound + max(0, shop.between[last] - most)


def chain_bound(shop: Shop, s: int, r: int) -> int | None:
    r"""(B2): all forwards and I's of stage s, and then the way back to stage r, at most s.

    Let X be the end of the last I on s. On its device d, by then all forwards of the route are
    done, and all I's of stages from s on; what is left are W's, and I's of stages before s, at most
    :math:`\Phi` work that memory holds beside that microbatch. From X on, I of the microbatch runs
    down to r, and W of r follows. With the idle time u of the warm-up,

    .. math:: Z \ge h + u + L - \Phi + \sum_{q=r}^{s-1} (c_q + i_q) + w_r + A_r.

    For a period the head is that of the first stage on d, from the first one on the device of r;
    None if d begins earlier.
    """
    d, route = shop.device[s], shop.route_of[s]
    first, begin = _first(shop, s), _first(shop, r)
    if shop.period and begin > first:
        return None
    head = shop.head[first] - (shop.head[begin] if shop.period else 0)
    mine = [q for q in shop.on_device[d] if q in route]
    left: list[Item] = []
    for q in mine:
        count = shop.microbatches[q] - (q == s)
        left.append((shop.w[q], shop.g[q], count))
        if q < s:
            left.append((shop.i[q] + shop.w[q], shop.a[q], count))
    capacity = _capacity(shop, d)
    most = most_work(left, None if capacity is None else capacity - shop.a[s])
    every = sum(shop.microbatches[q] * (shop.w[q] + (shop.i[q] if q < s else 0)) for q in mine)
    done = sum(map(shop.load, mine)) - min(every, most + shop.w[s])
    idle = _warm_up_idle(shop, d) if len(mine) == len(shop.on_device[d]) else 0
    way = sum(shop.lag[q] + shop.i[q] for q in range(r, s))
    return head + idle + done + way + shop.w[r] + shop.allreduce[r]


def rounds_bound(shop: Shop, s: int, rounds: int) -> int | None:
    r"""(B5): rounds through memory, and then the load of the other microbatches.

    Memory holds :math:`\kappa = \lfloor K / a_s \rfloor` microbatches of s, so :math:`F_{j+\kappa}`
    starts after I of j, and after W of j if :math:`g_s = a_s`:
    :math:`f_s + R_s + i_s + w_s` later. After k rounds,
    :math:`M - k \kappa \ge 1` microbatches are left, of :math:`f_s + i_s + w_s` each; or one, of
    :math:`f_s + R_s + i_s + w_s`. None if memory holds all.
    """
    capacity = _capacity(shop, shop.device[s])
    if capacity is None or not shop.a[s]:
        return None
    most = capacity // shop.a[s]
    if most < 1 or shop.microbatches[s] <= rounds * most:
        return None
    held = shop.w[s] if shop.g[s] == shop.a[s] else 0
    through = shop.f[s] + shop.between[s] + shop.i[s]
    work = shop.f[s] + shop.i[s] + shop.w[s]
    rest = max((shop.microbatches[s] - rounds * most) * work, through + shop.w[s])
    head = shop.head[s] - (shop.head[_first(shop, s)] if shop.period else 0)
    return head + rounds * (through + held) + rest + shop.allreduce[s]
