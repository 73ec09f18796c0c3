r"""Can a schedule be shorter than so many ticks? What has to be before what says no: (B7).

Suppose that :math:`Z < B`. Then operations of a device are in an order of which some is known:

- microbatches are in their order on every stage (D1), and operations in that of the route;
- if :math:`r_a + p_a + p_b + q_b \ge B` for two operations of a device, with head r, length p and
  tail q, a is not before b, so b is before a; and all that is before b is before all that is after
  a.

Heads and tails grow with what is known to be before an operation, and after it, on its device:

- A device that executes what is before o, each not before its head, is not done sooner than one
  that serves what is there first.
- At the start of o, all forwards that are known to be before it, and o itself if it is one, have
  begun. If memory K is less than what they take, :math:`\sum a`, at least
  :math:`\lceil (\sum a - K) / \max a \rceil` operations I are before o, and as many W where only W
  frees memory (:math:`a = g`).
- At the start of o, microbatches whose I or W is o or known to be after it hold :math:`h`, a before
  I or g before W, if their forward has begun. So :math:`\lceil (\sum h - K) / \max h \rceil`
  forwards of them are still to come.
- The period is at least what every device lasts: of a device that ends no sooner than E after the
  begin of `begin`, nothing starts before :math:`E - B`; and likewise from the end.

The assumption is refuted if two operations may be in neither order; if memory leaves too few
operations to be before or after another; or if Jackson's preemptive schedule of a device is not
shorter than B. All numbers are whole, so a bound that is a fraction of a tick is not missed: the
reasoning holds for every :math:`Z < B`, and proves :math:`Z \ge B`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gadgetopt.pieces.preemption import preemptive_makespan

from .heads_tails import NEVER, Job, first_jobs, served
from .shop import Shop

#: How often heads, tails and orders are raised at most: far more than any instance needed.
#: Tuned: `benchmarks/pipeline_schedules_bounds.py`.
ROUNDS = 100
#: Operations up to which it is tried: about four seconds for a length that is not refuted.
#: Tuned: `benchmarks/pipeline_schedules_bounds.py`.
MOST_OPERATIONS = 1200


class RefutedError(Exception):
    """No schedule is as short as supposed."""


def is_refuted(
    shop: Shop, below: int, begin: int, goes_on: Callable[[], bool] = lambda: True
) -> bool:
    """Return True if it is found that no makespan, or no period, is less than so many ticks.

    Parameters
    ----------
    shop : Shop
    below : int
    begin : int
        The device from whose begin to whose end the period is counted; a makespan has no such.
    goes_on : callable, optional
        Returns whether there is time for a further round; without, nothing is refuted.
    """
    if 3 * sum(shop.microbatches) > MOST_OPERATIONS:
        return False
    try:
        Supposition(shop, below, begin).draw_conclusions(goes_on)
    except RefutedError:
        return True
    return False


class Supposition:
    """What follows from a length below so many ticks; operations are numbered.

    Attributes
    ----------
    before, after : list of int
        Of each operation: those that are known to be before or after it, as bits.
    head, tail : list of int
    """

    def __init__(self, shop: Shop, below: int, begin: int):
        self.shop, self.below = shop, below
        self.kinds = [
            (s, kind, j)
            for s, count in enumerate(shop.microbatches)
            for kind in "FIW"
            for j in range(count)
        ]
        self.number = {op: n for n, op in enumerate(self.kinds)}
        lengths = {"F": shop.f, "I": shop.i, "W": shop.w}
        self.length = [lengths[kind][s] for s, kind, _ in self.kinds]
        self.on = [0] * len(shop.on_device)
        self.of_kind = dict.fromkeys("FIW", 0)
        for n, (s, kind, _) in enumerate(self.kinds):
            self.on[shop.device[s]] |= 1 << n
            self.of_kind[kind] |= 1 << n
        counted = [not shop.period or shop.device[s] == begin for s, _, _ in self.kinds]
        self.head = [0 if here else NEVER for here in counted]
        self.tail = [
            shop.allreduce[s] if here and kind == "W" else NEVER
            for here, (s, kind, _) in zip(counted, self.kinds, strict=True)
        ]
        self.waits: list[list[Job]] = [[] for _ in self.kinds]
        self.leads: list[list[Job]] = [[] for _ in self.kinds]
        self.before, self.after = [0] * len(self.kinds), [0] * len(self.kinds)
        for a, b, lag in self._route_arcs():
            self.waits[b].append((a, lag))
            self.leads[a].append((b, lag))
            self._order(a, b)

    def draw_conclusions(self, goes_on: Callable[[], bool]) -> None:
        """Raise heads, tails and orders until nothing changes, or for `ROUNDS` rounds.

        Raises
        ------
        RefutedError
            If there is a contradiction.
        """
        for _ in range(ROUNDS):
            if not goes_on():
                return
            known = sum(self.head) + sum(self.tail)
            order = sorted(range(len(self.kinds)), key=lambda o: self.before[o].bit_count())
            for o in order:
                self._raise_head(o)
            for o in reversed(order):
                self._raise_tail(o)
            for d in range(len(self.on)):
                self._look_at(d)
            if not self._order_pairs() and sum(self.head) + sum(self.tail) == known:
                return

    def _route_arcs(self) -> Iterator[tuple[int, int, int]]:
        """Yield operations, those that wait for them on their routes, and the ticks between."""
        shop, number = self.shop, self.number
        for n, (s, kind, j) in enumerate(self.kinds):
            if j:
                yield number[s, kind, j - 1], n, 0
            if kind != "F":
                yield number[s, "F" if kind == "I" else "I", j], n, 0
            if kind == "F" and s - 1 in shop.route_of[s]:
                yield number[s - 1, "F", j], n, shop.lag[s - 1]
            if kind == "I" and s + 1 in shop.route_of[s]:
                yield number[s + 1, "I", j], n, shop.lag[s]

    def _order(self, a: int, b: int) -> None:
        """Take it that a is before b, with all that is before a and after b."""
        if self.after[a] >> b & 1:
            return
        earlier, later = self.before[a] | 1 << a, self.after[b] | 1 << b
        for x in _bits(earlier):
            self.after[x] |= later
        for x in _bits(later):
            self.before[x] |= earlier

    def _raise_head(self, o: int) -> None:
        ends = [self.head[x] + self.length[x] + lag for x, lag in self.waits[o]]
        here = self.on[self._device(o)] & self.before[o]
        jobs = [(self.head[x], self.length[x]) for x in _bits(here)]
        self.head[o] = max(self.head[o], *ends, served(jobs + self._freed_before(o)))

    def _raise_tail(self, o: int) -> None:
        rests = [self.tail[x] + self.length[x] + lag for x, lag in self.leads[o]]
        here = self.on[self._device(o)] & self.after[o]
        jobs = [(self.tail[x], self.length[x]) for x in _bits(here)]
        self.tail[o] = max(self.tail[o], *rests, served(jobs + self._coming_after(o)))

    def _freed_before(self, o: int) -> list[Job]:
        """Return what memory demands before an operation, beside what is known to be there."""
        shop, here = self.shop, self.on[self._device(o)]
        if shop.capacity is None:
            return []
        begun = self.of_kind["F"] & here & (self.before[o] | 1 << o)
        stages = [self.kinds[x][0] for x in _bits(begun)]
        freed = _too_many([shop.a[s] for s in stages], shop.capacity[self._device(o)])
        jobs: list[Job] = []
        for kind in "IW" if all(shop.g[s] == shop.a[s] for s in stages) else "I":
            same = self.of_kind[kind] & here
            some = same & ~(self.before[o] | self.after[o] | 1 << o)
            jobs += self._some(some, freed - (same & self.before[o]).bit_count(), self.head)
        return jobs

    def _coming_after(self, o: int) -> list[Job]:
        """Return forwards that memory demands after an operation, beside what is known to be."""
        shop, d = self.shop, self._device(o)
        if shop.capacity is None:
            return []
        later, held, forwards = self.after[o] | 1 << o, [], 0
        for x in _bits(self.of_kind["F"] & self.on[d]):
            s, _, j = self.kinds[x]
            if later >> self.number[s, "W", j] & 1:
                held.append(shop.a[s] if later >> self.number[s, "I", j] & 1 else shop.g[s])
                forwards |= 1 << x
        coming = _too_many(held, shop.capacity[d])
        some = forwards & ~(self.before[o] | later)
        return self._some(some, coming - (forwards & self.after[o]).bit_count(), self.tail)

    def _some(self, bits: int, count: int, at: Sequence[int]) -> list[Job]:
        """Return at least what so many of these operations are: the smallest heads or tails."""
        if count <= 0:
            return []
        if count > bits.bit_count():
            raise RefutedError
        least = min(self.length[x] for x in _bits(bits))
        return first_jobs([(at[x], least) for x in _bits(bits)], count, least)

    def _look_at(self, d: int) -> None:
        """Let a device execute its operations, within the period."""
        mine = list(_bits(self.on[d]))
        if self.shop.period:
            heads = [(self.head[x], self.length[x]) for x in mine]
            tails = [(self.tail[x], self.length[x]) for x in mine]
            end = served(heads) + min(self.shop.allreduce[s] for s in self.shop.on_device[d])
            begin = served(tails)
            for x in mine:
                self.head[x] = max(self.head[x], end - self.below)
                self.tail[x] = max(self.tail[x], begin - self.below)
        known = [x for x in mine if min(self.head[x], self.tail[x]) > NEVER // 2]
        if not known:
            return
        first = min(self.head[x] for x in known)
        jobs = [(self.head[x] - first, self.length[x], self.tail[x]) for x in known]
        if first + preemptive_makespan(jobs) >= self.below:
            raise RefutedError

    def _order_pairs(self) -> bool:
        """Order pairs of which one order would take too long; return True if there were any."""
        found = False
        for mine in self.on:
            for a in _bits(mine):
                for b in _bits(mine & ~(self.before[a] | self.after[a]) & ~((2 << a) - 1)):
                    if self._may_be_before(a, b):
                        if not self._may_be_before(b, a):
                            self._order(a, b)
                            found = True
                    elif self._may_be_before(b, a):
                        self._order(b, a)
                        found = True
                    else:
                        raise RefutedError
        return found

    def _may_be_before(self, a: int, b: int) -> bool:
        """Return True if a may be before b."""
        if self.after[b] >> a & 1:
            return False
        if self.after[a] >> b & 1:
            return True
        return self.head[a] + self.length[a] + self.length[b] + self.tail[b] < self.below

    def _device(self, o: int) -> int:
        return self.shop.device[self.kinds[o][0]]


def _bits(number: int) -> Iterator[int]:
    """Yield the places of the ones of a number."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


def _too_many(amounts: Sequence[int], capacity: int) -> int:
    """Return how many of these memory does not hold, at least."""
    over = sum(amounts) - capacity
    return -(-over // max(amounts)) if amounts and over > 0 else 0
