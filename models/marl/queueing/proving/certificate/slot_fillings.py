"""All ways to fill the servers for one slot, and the iterations that jobs do then.

What lies on a server is a tuple of (job, tasks, GPUs), by job; GPUs are named with boards only.
Servers that are alike may change places, so of such ones that hold the same the first takes no
fewer tasks of a job, and a filling has the contents of each class of servers in order.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from fractions import Fraction

from ...instance import QueueingInstance

#: What lies on a server: triples (job, tasks, GPUs), by job.
Content = tuple[tuple[int, int, tuple[int, ...]], ...]
#: What lies on each server, those of a class next to each other.
Filling = tuple[Content, ...]
#: Iterations that jobs do in a slot.
Rates = tuple[int, ...]


class TooMuchError(Exception):
    """There is more to look at than a check may."""


class SlotFillings:
    """The fillings of a slot, those of each set of jobs looked at once.

    Parameters
    ----------
    instance : QueueingInstance
        With slowdowns that are sums.
    most : int
        Steps that may be taken, each of which gives a server tasks of a job or looks at a filling.
    """

    def __init__(self, instance: QueueingInstance, most: int):
        self._instance, self._most = instance, most
        classes = [*instance.server_classes.values()]
        self._servers: list[int] = [s for members in classes for s in members]
        self._ends: list[int] = [*itertools.accumulate(len(members) for members in classes)]
        #: Places in a filling at which a class begins.
        self._begins = {0, *self._ends}
        self._slowed: dict[tuple[int, Content], dict[int, tuple[Fraction, Fraction | None]]] = {}
        self._rates: dict[tuple[int, Fraction, int, Fraction | None], int] = {}

    def empty(self) -> Filling:
        """Return the filling of nothing."""
        return ((),) * len(self._servers)

    def of(self, jobs: tuple[int, ...], staying: Filling) -> Iterator[tuple[Rates, Filling]]:
        """Yield the fillings in which any of some jobs run, with the iterations of all.

        Parameters
        ----------
        jobs : tuple of int
            Of those that are not on servers each may run or wait.
        staying : Filling
            What lies on servers, and stays there.

        Raises
        ------
        TooMuchError
        """
        size = {j: job.num_tasks * job.gpus_per_task for j, job in enumerate(self._instance.jobs)}
        there = {j for content in staying for j, _, _ in content}
        todo = sorted((j for j in jobs if j not in there), key=lambda j: (-size[j], j))
        stack = [(staying, 0)]
        while stack:
            filling, k = stack.pop()
            if k == len(todo):
                rates = self._iterations(filling)
                yield tuple(rates.get(j, 0) for j in jobs), filling
                continue
            stack.append((filling, k + 1))
            stack += ((more, k + 1) for more in self._with(todo[k], filling))

    def without(self, jobs: Iterable[int], filling: Filling) -> Filling:
        """Return a filling that some jobs have left."""
        gone = set(jobs)
        left = [tuple(x for x in content if x[0] not in gone) for content in filling]
        return self._in_order(left)

    def spend(self, steps: int = 1) -> None:
        """Take steps; raise `TooMuchError` if there are none left."""
        self._most -= steps
        if self._most < 0:
            raise TooMuchError

    def _in_order(self, contents: list[Content]) -> Filling:
        """Return the filling of these contents: those of a class in order."""
        begins = (0, *self._ends)
        return tuple(
            content
            for begin, end in itertools.pairwise(begins)
            for content in sorted(contents[begin:end])
        )

    def _with(self, j: int, filling: Filling) -> Iterator[Filling]:
        """Yield the fillings with the tasks of one more job, on servers in all ways."""
        stack: list[tuple[int, int, Filling]] = [(0, self._instance.jobs[j].num_tasks, ())]
        while stack:
            place, left, before = stack.pop()
            self.spend()
            if not left:
                yield self._in_order([*before, *filling[place:]])
                continue
            if place == len(filling):
                continue
            most = min(left, self._room(j, place, filling[place]))
            if place not in self._begins and filling[place] == filling[place - 1]:
                most = min(most, sum(n for i, n, _ in before[-1] if i == j))
            for n in range(most + 1):
                for gpus in self._seats(j, n, place, filling[place]):
                    here = tuple(sorted((*filling[place], (j, n, gpus)))) if n else filling[place]
                    stack.append((place + 1, left - n, (*before, here)))

    def _room(self, j: int, place: int, content: Content) -> int:
        """Return how many tasks of a job fit beside what lies on a server."""
        jobs, server = self._instance.jobs, self._instance.servers[self._servers[place]]
        job, most = jobs[j], jobs[j].num_tasks
        if job.gpus_per_task:
            used = sum(n * jobs[i].gpus_per_task for i, n, _ in content)
            most = min(most, (server.gpus - used) // job.gpus_per_task)
        if job.cpus_per_task:
            used = sum(n * jobs[i].cpus_per_task for i, n, _ in content)
            most = min(most, (server.cpus - used) // job.cpus_per_task)
        return most

    def _seats(self, j: int, n: int, place: int, content: Content) -> Iterable[tuple[int, ...]]:
        """Return the sets of GPUs that tasks of a job may have on a server."""
        if not self._instance.boards:
            return ((),)
        taken = {gpu for _, _, gpus in content for gpu in gpus}
        all_gpus = range(self._instance.servers[self._servers[place]].gpus)
        free = [gpu for gpu in all_gpus if gpu not in taken]
        return itertools.combinations(free, n * self._instance.jobs[j].gpus_per_task)

    def _iterations(self, filling: Filling) -> dict[int, int]:
        """Return how many iterations each job on servers does in a slot, at most all that it has.

        On the worst of its servers an iteration takes so much longer, its slowest ring inside of
        one is so fast, and its servers are so far from each other.
        """
        self.spend()
        slowdown: dict[int, Fraction] = {}
        ring: dict[int, Fraction] = {}
        on: dict[int, list[int]] = {}
        for s, content in zip(self._servers, filling, strict=True):
            for j, (more, gbytes_s) in self._on_server(s, content).items():
                slowdown[j] = max(slowdown.get(j, more), more)
                on.setdefault(j, []).append(s)
                if gbytes_s is not None:
                    ring[j] = min(ring.get(j, gbytes_s), gbytes_s)
        return {
            j: self._rate(j, slowdown[j], self._instance.span(servers), ring.get(j))
            for j, servers in on.items()
        }

    def _on_server(self, s: int, content: Content) -> dict[int, tuple[Fraction, Fraction | None]]:
        """Return how much its neighbours on a server slow each job, and how fast its ring is."""
        instance, board = self._instance, self._instance.servers[s].board
        if (board, content) not in self._slowed:
            found: dict[int, tuple[Fraction, Fraction | None]] = {}
            for j, _, gpus in content:
                row, slowdown = instance.interference[instance.jobs[j].type], Fraction(0)
                for i, n, _ in content:
                    if i != j:
                        slowdown += row[instance.jobs[i].type] * (n if instance.per_task else 1)
                ring = instance.boards[board].ring_gbytes_s(gpus) if len(gpus) > 1 else None
                found[j] = slowdown, ring
            self._slowed[board, content] = found
        return self._slowed[board, content]

    def _rate(self, j: int, slowdown: Fraction, span: int, ring: Fraction | None) -> int:
        key = (j, slowdown, span, ring)
        if key not in self._rates:
            instance, job = self._instance, self._instance.jobs[j]
            comm_s = instance.span_s(j, span)
            if ring is not None:
                comm_s = max(comm_s, instance.rings_gbytes[j] / ring)
            iteration_s = job.base_iteration_s * (1 + slowdown) + comm_s
            self._rates[key] = min(job.iterations, int(instance.slot_s // iteration_s))
        return self._rates[key]
