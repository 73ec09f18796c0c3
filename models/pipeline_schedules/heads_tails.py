r"""A lower bound on makespan and period by heads and tails, in ticks: (B6).

An operation o has a *head*, before which it does not start, and a *tail*, which passes after its
end. The operations of one device with their heads and tails are a machine of its own, and
Jackson's preemptive schedule is the shortest that it can have. Makespans count from 0; the period
is counted from the begin of one device to its end, by which it is at least as long.

Heads and tails start from the route, with microbatches in their order (D1), and grow by what the
device has to execute before an operation or after it:

- before :math:`F_{s,j}`: :math:`F_{q,k}` of :math:`q \le s, k \le j`. At its start all of them hold
  memory, or have given it back: of memory K, at least
  :math:`n = \lceil (\sum a_q (j + 1) - K) / \max a_q \rceil` of them had their I, and their W where
  only W frees memory (:math:`a_q = g_q`).
- before :math:`I_{s,j}`: :math:`F_{q,k}` of all q, :math:`k \le j`, :math:`I_{q,k}` of q > s, and
  of s for k < j. At the start of the last of these F, memory holds what it holds, so that n of
  their microbatches had I and W.
- after :math:`I_{s,j}`: :math:`I_{q,k}, W_{q,k}` of :math:`q \le s, k \ge j`. At its start all of
  these microbatches whose F began hold :math:`a_q` (their I is not done), so that n of their F are
  still to come.
- after :math:`F_{s,j}`: :math:`F_{q,k}` of :math:`q \ge s`, and I and W of all q,
  :math:`k \ge j`.

Here q are the stages of the same route on the same device, and the bound on n others takes the
shortest of them with the smallest heads or tails. A set of operations with heads ends no sooner
than a machine that serves what is there first. Links and shared weights only make schedules longer.
"""

from __future__ import annotations

from collections.abc import Iterable

from gadgetopt.pieces.preemption import preemptive_makespan

from .cells import Operation
from .shop import Shop

#: How often heads and tails are raised: those of F rest on those of I, and again.
#: Tuned: `benchmarks/pipeline_schedules_bounds.py`.
PASSES = 3
#: The head or tail of an operation that may be at any time. By definition.
NEVER = -(2**60)

#: Head or tail, and length.
Job = tuple[int, int]


def machine_bound(shop: Shop, device: int, begin: int) -> int | None:
    """(B6): Jackson's preemptive schedule of one device.

    Parameters
    ----------
    shop : Shop
    device : int
        The device that is looked at.
    begin : int
        The device from whose begin to whose end the period is counted; a makespan has no such.

    Returns
    -------
    int or None
        In ticks; None if nothing is known of the device's heads and tails.
    """
    return HeadsTails(shop, begin).bound(device)


class HeadsTails:
    """Heads and tails of all operations.

    Attributes
    ----------
    head, tail : dict
        In ticks; `NEVER` and less where nothing is known.
    """

    def __init__(self, shop: Shop, begin: int):
        self.shop, self.begin = shop, begin
        self.lengths: dict[str, tuple[int, ...]] = {"F": shop.f, "I": shop.i, "W": shop.w}
        stages = range(len(shop.device))
        # All that a makespan is made of begins at 0 or later; so does what is on `begin`.
        self.head: dict[Operation, int] = {
            Operation(s, kind, j): 0 if self._counted(s) else NEVER
            for s in stages
            for kind in "FIW"
            for j in range(shop.microbatches[s])
        }
        self.tail: dict[Operation, int] = {
            op: shop.allreduce[op.stage] if op.kind == "W" and self._counted(op.stage) else NEVER
            for op in self.head
        }
        for _ in range(PASSES):
            for route in shop.routes:
                self._raise_heads(route)
        for _ in range(PASSES):
            for route in shop.routes:
                self._raise_tails(route)

    def bound(self, device: int) -> int | None:
        """Return the makespan of Jackson's preemptive schedule of a device; None without jobs."""
        jobs = [
            (head, self._length(op), self.tail[op])
            for op, head in self.head.items()
            if self.shop.device[op.stage] == device
            if head >= 0 and self.tail[op] >= 0 and self._length(op)
        ]
        return preemptive_makespan(jobs) if jobs else None

    def _counted(self, s: int) -> bool:
        """Return True if the length counts from before to after all operations of a stage."""
        return not self.shop.period or self.shop.device[s] == self.begin

    def _length(self, op: Operation) -> int:
        return self.lengths[op.kind][op.stage]

    def _raise_heads(self, route: range) -> None:
        """Raise the heads of a route: F from the first stage on, I and W back from the last."""
        for s in route:
            for j in range(self.shop.microbatches[s]):
                op = Operation(s, "F", j)
                waits = [(Operation(s, "F", j - 1), 0)] if j else []
                if s > route[0]:
                    waits.append((Operation(s - 1, "F", j), self.shop.lag[s - 1]))
                self._raise_head(op, waits, self._before_forward(s, j))
        for s in reversed(route):
            for j in range(self.shop.microbatches[s]):
                op = Operation(s, "I", j)
                waits = [(Operation(s, "F", j), 0)]
                if j:
                    waits.append((Operation(s, "I", j - 1), 0))
                if s < route[-1]:
                    waits.append((Operation(s + 1, "I", j), self.shop.lag[s]))
                self._raise_head(op, waits, self._before_input_grad(s, j))
                waits = [(op, 0)] + ([(Operation(s, "W", j - 1), 0)] if j else [])
                self._raise_head(Operation(s, "W", j), waits, [])

    def _raise_head(
        self, op: Operation, waits: Iterable[tuple[Operation, int]], jobs: list[Job]
    ) -> None:
        ends = [self.head[q] + self._length(q) + lag for q, lag in waits]
        self.head[op] = max(self.head[op], *ends, served(jobs))

    def _raise_tails(self, route: range) -> None:
        """Raise the tails of a route: W and I from the first stage on, F back from the last."""
        for s in route:
            last = self.shop.microbatches[s] - 1
            for j in range(last, -1, -1):
                op, weight = Operation(s, "I", j), Operation(s, "W", j)
                self._raise_tail(weight, [(Operation(s, "W", j + 1), 0)] if j < last else [], [])
                leads = [(weight, 0)]
                if j < last:
                    leads.append((Operation(s, "I", j + 1), 0))
                if s > route[0]:
                    leads.append((Operation(s - 1, "I", j), self.shop.lag[s - 1]))
                self._raise_tail(op, leads, self._after_input_grad(s, j))
        for s in reversed(route):
            last = self.shop.microbatches[s] - 1
            for j in range(last, -1, -1):
                leads = [(Operation(s, "I", j), 0)]
                if j < last:
                    leads.append((Operation(s, "F", j + 1), 0))
                if s < route[-1]:
                    leads.append((Operation(s + 1, "F", j), self.shop.lag[s]))
                self._raise_tail(Operation(s, "F", j), leads, self._after_forward(s, j))

    def _raise_tail(
        self, op: Operation, leads: Iterable[tuple[Operation, int]], jobs: list[Job]
    ) -> None:
        rests = [self.tail[q] + self._length(q) + lag for q, lag in leads]
        self.tail[op] = max(self.tail[op], *rests, served(jobs))

    def _before_forward(self, s: int, j: int) -> list[Job]:
        """Return heads and lengths of what a device executes before a forward."""
        shop = self.shop
        earlier = [q for q in self._mates(s) if q <= s]
        jobs = self._heads(Operation(q, "F", k) for q in earlier for k in range(j + (q < s)))
        backs = self._heads(Operation(q, "I", k) for q in earlier for k in range(j + 1))
        least = min(shop.i[q] + (shop.w[q] if shop.g[q] == shop.a[q] else 0) for q in earlier)
        return jobs + first_jobs(backs, self._too_many(earlier, j + 1), least)

    def _before_input_grad(self, s: int, j: int) -> list[Job]:
        """Return heads and lengths of what a device executes before an I."""
        shop, mates = self.shop, self._mates(s)
        jobs = self._heads(Operation(q, "F", k) for q in mates for k in range(j + 1))
        named = [Operation(q, "I", k) for q in mates if q >= s for k in range(j + (q > s))]
        jobs += self._heads(named)
        freed = self._too_many(mates, j + 1)
        backs = self._heads(Operation(q, "I", k) for q in mates for k in range(j + 1))
        jobs += first_jobs(backs, freed - len(named), min(shop.i[q] for q in mates))
        if all(shop.g[q] == shop.a[q] for q in mates):
            weights = self._heads(Operation(q, "W", k) for q in mates for k in range(j + 1))
            jobs += first_jobs(weights, freed, min(shop.w[q] for q in mates))
        return jobs

    def _after_input_grad(self, s: int, j: int) -> list[Job]:
        """Return tails and lengths of what a device executes after an I."""
        shop, earlier = self.shop, [q for q in self._mates(s) if q <= s]
        count = shop.microbatches[s]
        jobs = self._tails(
            Operation(q, "I", k) for q in earlier for k in range(j + (q == s), count)
        )
        jobs += self._tails(Operation(q, "W", k) for q in earlier for k in range(j, count))
        forwards = self._tails(Operation(q, "F", k) for q in earlier for k in range(j, count))
        coming = self._too_many(earlier, count - j)
        return jobs + first_jobs(forwards, coming, min(shop.f[q] for q in earlier))

    def _after_forward(self, s: int, j: int) -> list[Job]:
        """Return tails and lengths of what a device executes after a forward."""
        mates, count = self._mates(s), self.shop.microbatches[s]
        later = [q for q in mates if q >= s]
        jobs = self._tails(Operation(q, "F", k) for q in later for k in range(j + (q == s), count))
        return jobs + self._tails(
            Operation(q, kind, k) for q in mates for kind in "IW" for k in range(j, count)
        )

    def _mates(self, s: int) -> list[int]:
        """Return the stages of the same route on the same device."""
        shop = self.shop
        return [q for q in shop.on_device[shop.device[s]] if q in shop.route_of[s]]

    def _too_many(self, stages: list[int], count: int) -> int:
        """Return how many of so many microbatches of each stage memory does not hold, at least."""
        shop = self.shop
        if shop.capacity is None:
            return 0
        over = count * sum(shop.a[q] for q in stages) - shop.capacity[shop.device[stages[0]]]
        return -(-over // max(shop.a[q] for q in stages)) if over > 0 else 0

    def _heads(self, ops: Iterable[Operation]) -> list[Job]:
        return [(self.head[op], self._length(op)) for op in ops]

    def _tails(self, ops: Iterable[Operation]) -> list[Job]:
        return [(self.tail[op], self._length(op)) for op in ops]


def first_jobs(jobs: list[Job], count: int, length: int) -> list[Job]:
    """Return so many jobs of one length, with the smallest heads or tails of others."""
    return [(at, length) for at, _ in sorted(jobs)[: max(0, count)]]


def served(jobs: Iterable[Job]) -> int:
    """Return when a machine is done that serves what is there first."""
    end = NEVER
    for at, length in sorted(jobs):
        end = max(end, at) + length
    return end
