"""Local search: the jobs of two machines are divided again, as evenly as possible."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.differencing import difference
from ..algorithms.graham import list_schedule, makespan_s
from ..algorithms.multifit import first_fit_decreasing
from ..counting import combinatorial_bound
from ..instance import ParallelMachinesInstance, ParallelMachinesSolution

#: Bits of the tables from which a pair's even division is read; pairs of more are differenced.
#: Tuned: `benchmarks/constants.py`.
MOST_BITS = 2**25

#: Bisections of the capacity for the first schedule by first-fit decreasing.
#: Tuned: `benchmarks/constants.py`.
_FIRST_FIT_STEPS = 12


@method(kind="heuristic", reference="this project")
def local_search(
    instance: ParallelMachinesInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    kicks: int = 2000,
) -> MethodOutcome:
    """Best of LPT, MULTIFIT and differencing; then balances pairs of machines.

    It starts from the best of LPT, first-fit decreasing and differencing. The most loaded machine
    is paired with others, and the jobs of both divided as evenly as possible by dynamic
    programming over subset sums. Where no pair helps, two other machines exchange jobs at random
    without becoming the most loaded. It ends when a lower bound is met.

    Parameters
    ----------
    instance : ParallelMachinesInstance
    limits : Limits
        `time_s` stops the search between two pairs.
    rng : numpy.random.Generator
        Chooses the random exchanges.
    kicks : int, default 2000
        Random exchanges without improvement before it gives up.
    """
    search: Search[list[list[int]]] = Search("min", limits)
    bound = combinatorial_bound(instance)
    pairs = PairSearch(instance, first_schedule(instance, bound, search.clock), rng)
    # Later moves replace the jobs of a machine and change none in place.
    pairs.run(bound, kicks, search.clock, lambda s: search.offer(s, [*pairs.jobs_of]))
    return search.outcome(ParallelMachinesSolution.of(search.best or pairs.jobs_of))


def first_schedule(instance: ParallelMachinesInstance, bound: int, clock: Clock) -> list[list[int]]:
    """Return the best schedule of LPT, differencing and first-fit decreasing with bisection.

    The later ones are left out once the bound is met or the time is up.
    """
    best = list_schedule(instance, instance.longest_first)
    best_s = makespan_s(instance, best)
    if best_s > bound and not clock.expired:
        found = difference(instance.processing_s, instance.used_machines)
        best = min(best, found, key=lambda jobs_of: makespan_s(instance, jobs_of))
        best_s = makespan_s(instance, best)
    low = bound
    for _ in range(_FIRST_FIT_STEPS):
        if low >= best_s or clock.expired:
            break
        capacity_s = (low + best_s - 1) // 2
        packing = first_fit_decreasing(instance, capacity_s)
        if packing is None:
            low = capacity_s + 1
        else:
            best, best_s = packing, makespan_s(instance, packing)
    return best


class PairSearch:
    """A schedule that is improved pair by pair.

    With thousands of machines most pairs are the same as before: machines are kept in the order of
    their loads, and a machine that no other could relieve is paired again only with those that
    changed since.

    Attributes
    ----------
    jobs_of : list of list of int
        Jobs of each machine.
    load_s : list of int
        Their processing times together.
    """

    def __init__(
        self,
        instance: ParallelMachinesInstance,
        jobs_of: Sequence[Sequence[int]],
        rng: np.random.Generator,
    ):
        self.times_s: tuple[int, ...] = instance.processing_s
        self.rng = rng
        self.jobs_of: list[list[int]] = [list(jobs) for jobs in jobs_of]
        self.load_s: list[int] = [self._sum(jobs) for jobs in self.jobs_of]
        self._by_load: list[tuple[int, int]] = sorted((s, i) for i, s in enumerate(self.load_s))
        self._changed: list[int] = []  # machines, in the order of their changes
        self._tried: dict[int, int] = {}  # changes when no other machine could relieve this one

    @property
    def makespan_s(self) -> int:
        """The largest load."""
        return self._by_load[-1][0]

    def run(
        self,
        bound: int,
        kicks: int,
        clock: Clock,
        found: Callable[[int], object] = lambda _: None,
    ) -> None:
        """Improve until the bound is met, `kicks` exchanges in a row bring nothing, or time ends.

        The last exchanges leave the makespan as good as it was. Each better one is told to `found`.
        """
        left, best_s = kicks, self.makespan_s
        found(best_s)
        while self.makespan_s > bound and not clock.expired:
            if self.makespan_s < best_s:
                best_s = self.makespan_s
                found(best_s)
            if self._improve(clock):
                left = kicks
            elif left > 0 and len(self.jobs_of) > 2:
                left -= 1
                self._kick()
            else:
                break

    def _improve(self, clock: Clock) -> bool:
        """Relieve the most loaded machine by the first other one that can; True if one could."""
        top_s = self.makespan_s
        i = self._by_load[bisect_left(self._by_load, (top_s, 0))][1]
        for load_s, k in self._untried(i):
            if clock.expired:
                return False
            if k == i:
                continue
            pool = [*self.jobs_of[i], *self.jobs_of[k]]
            part = self._part(pool, (top_s + load_s) // 2)
            part_s = self._sum(part)
            if max(part_s, top_s + load_s - part_s) < top_s:
                self._divide(i, k, pool, part)
                return True
        self._tried[i] = len(self._changed)
        return False

    def _untried(self, i: int) -> Iterable[tuple[int, int]]:
        """Return loads and machines that may relieve a machine, by load."""
        if i not in self._tried:
            return self._by_load
        since = {*self._changed[self._tried[i] :]}
        return sorted((self.load_s[k], k) for k in since)

    def _kick(self) -> None:
        """Divide the jobs of two machines again so that neither becomes the most loaded."""
        top_s = self.makespan_s
        others = [i for i, load_s in enumerate(self.load_s) if load_s < top_s]
        if len(others) < 2:
            return
        i, k = self.rng.choice(others, size=2, replace=False).tolist()
        pool = [*self.jobs_of[i], *self.jobs_of[k]]
        total_s = self.load_s[i] + self.load_s[k]
        self.rng.shuffle(pool)
        least_s = max(0, total_s - (top_s - 1))
        target_s = int(self.rng.integers(least_s, min(total_s, top_s - 1) + 1))
        part = self._part(pool, target_s)
        if least_s <= self._sum(part):
            self._divide(i, k, pool, part)

    def _divide(self, i: int, k: int, pool: list[int], part: list[int]) -> None:
        chosen = set(part)
        for machine, jobs in ((i, part), (k, [j for j in pool if j not in chosen])):
            del self._by_load[bisect_left(self._by_load, (self.load_s[machine], machine))]
            self.jobs_of[machine], self.load_s[machine] = jobs, self._sum(jobs)
            insort(self._by_load, (self.load_s[machine], machine))
            self._changed.append(machine)
            self._tried.pop(machine, None)

    def _part(self, pool: list[int], target_s: int) -> list[int]:
        """Return jobs of the largest sum up to a target; about half of all if sums are too many."""
        if (target_s + 1) * len(pool) > MOST_BITS:
            times_s = [self.times_s[j] for j in pool]
            return [pool[t] for t in difference(times_s, 2)[0]]
        mask = (1 << (target_s + 1)) - 1
        tables = [1]  # bit s of table t is set if some of the first t jobs sum to s
        for j in pool:
            tables.append((tables[-1] | tables[-1] << self.times_s[j]) & mask)
        rest = tables[-1].bit_length() - 1
        part = []
        for t in range(len(pool) - 1, -1, -1):
            if not tables[t] >> rest & 1:
                part.append(pool[t])
                rest -= self.times_s[pool[t]]
        return part

    def _sum(self, jobs: Sequence[int]) -> int:
        return sum(self.times_s[j] for j in jobs)
