r"""Placement rules: a server for one task after the other, all tasks of a job or none.

With :math:`G^{free}_s` and :math:`U^{free}_s` the GPUs and CPUs that a server has free, of all
servers with room for the task the rules take, ties to the server of lowest number,

- `tetris`: the one with the largest
  :math:`\frac{g_j}{G_s}\frac{G^{free}_s}{G_s} + \frac{u_j}{U_s}\frac{U^{free}_s}{U_s}`;
- `pack`: one that the job is on already, then the one with the fewest free GPUs;
- `lb`: the one with the most free GPUs, then the most free CPUs;
- `lif`: the one on which the task adds least interference, which is
  :math:`\alpha_{jk} + \alpha_{kj}` for every other job k there, and nothing where job j is already
  (with `per_task` what one more task adds); then one that the job is on already;
- `random`: any;
- `greedy_jct`: the one with which :math:`\sum_k W_k t_k` of all placed jobs is least (`jct_rule`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, get_args

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.search.groups import Groups, Key

from .cluster import MOST_UNITS
from .occupancy import Occupancy

GroupRule = Literal["tetris", "pack", "lb", "lif"]
Rule = Literal["tetris", "pack", "lb", "lif", "greedy_jct", "random"]
RULES: tuple[Rule, ...] = get_args(Rule)

#: Decimals to which added interference is compared. Tuned: `benchmarks/constants.py`.
_DECIMALS = 9
#: More than the GPUs of any server.
_FIRST = 2.0 * MOST_UNITS
#: Servers that `random` tries before it lists those with room. Tuned: `benchmarks/constants.py`.
_TRIES = 30


class Placer(ABC):
    """A rule at work on an occupancy, which only it changes."""

    def __init__(self, occupancy: Occupancy):
        self.occupancy = occupancy

    def place(self, j: int) -> bool:
        """Put all tasks of a job on servers, or none; return True if all are."""
        self.begin(j)
        placed = True
        for _ in range(self.occupancy.instance.jobs[j].num_tasks):
            s = self.choose(j)
            if s is None:
                self.occupancy.clear(j)
                placed = False
                break
            self.hold(j, s)
            self.occupancy.put(j, s)
        self.end(j)
        return placed

    def remove(self, j: int) -> None:
        """Take all tasks of a job away."""
        self.begin(j)
        self.occupancy.clear(j)
        self.end(j)

    def put_back(self, j: int, servers: dict[int, int]) -> None:
        """Put a job that is nowhere on servers that have room for it."""
        self.begin(j)
        for s, n in servers.items():
            self.hold(j, s)
            self.occupancy.put(j, s, n)
        self.end(j)

    @abstractmethod
    def choose(self, j: int) -> int | None:
        """Return the server for the next task of a job; None if none has room."""

    @abstractmethod
    def begin(self, j: int) -> None:
        """Prepare for changes of a job."""

    @abstractmethod
    def hold(self, j: int, s: int) -> None:
        """Prepare for one more task of the job on a server."""

    @abstractmethod
    def end(self, j: int) -> None:
        """Take note of where the job is now."""


class GroupPlacer(Placer):
    """Rules that look at groups of servers; those of the job at hand are held, one by one."""

    def __init__(self, occupancy: Occupancy, rule: GroupRule):
        super().__init__(occupancy)
        instance = occupancy.instance
        self.rule = rule
        # Of every type: what a first task adds, and what a further one does.
        self.first: Floats = instance.alpha + instance.alpha.T
        self.further: Floats = (
            instance.alpha.T if instance.per_task else np.zeros_like(instance.alpha)
        )
        self.types: int = instance.num_types if rule == "lif" else 0
        self.counts: list[list[int]] = [[0] * self.types for _ in instance.servers]
        self.groups: Groups = Groups(4 + self.types)
        self.held: set[int] = set()
        self.capacity: list[tuple[int, int]] = [
            (server.gpus, server.cpus) for server in instance.servers
        ]
        for j, servers in enumerate(occupancy.servers_of):
            for s in servers:
                self._count(j, s, 1)
        for s in range(len(instance.servers)):
            self.groups.add(s, self._key(s))

    def begin(self, j: int) -> None:
        """Prepare for changes of a job."""
        for s in self.occupancy.servers_of[j]:
            self._count(j, s, -1)
            self.hold(j, s)

    def hold(self, j: int, s: int) -> None:
        """Prepare for one more task of the job on a server."""
        if s not in self.held:
            self.groups.remove(s)
            self.held.add(s)

    def end(self, j: int) -> None:
        """Take note of where the job is now."""
        for s in self.held:
            if s in self.occupancy.servers_of[j]:
                self._count(j, s, 1)
            self.groups.add(s, self._key(s))
        self.held.clear()

    def choose(self, j: int) -> int | None:
        """Return the server of the next task of a job; None if none has room."""
        best = self._best(j, self.groups.keys, self.groups.lowest, on_it=False)
        if self.held:
            held = np.array(sorted(self.held), dtype=np.int64)
            keys = np.array([self._key(s) for s in held.tolist()], dtype=np.float64).T
            own = self._best(j, keys, held, on_it=True)
            if best is None or (own is not None and own < best):
                best = own
        return None if best is None else best[-1]

    def _best(
        self, j: int, keys: Floats, servers: Ints, *, on_it: bool
    ) -> tuple[float, float, int] | None:
        """Return the server that the rule takes of some, after its scores."""
        o = self.occupancy
        fit = (keys[2] >= o.gpus[j]) & (keys[3] >= o.cpus[j])
        if not fit.any():
            return None
        score = np.where(fit, self._score(j, keys, on_it=on_it), np.inf)
        least = score.min()
        ties = np.flatnonzero(score == least)
        second = float(not on_it) if self.rule == "lif" else 0.0
        if self.rule == "lb":
            by_cpus = -keys[3, ties]
            second = float(by_cpus.min())
            ties = ties[by_cpus == second]
        return float(least), second, int(servers[ties].min())

    def _score(self, j: int, keys: Floats, *, on_it: bool) -> Floats:
        """Return what the rule minimises first; a column is a candidate."""
        if self.rule == "lb":
            return -keys[2]
        if self.rule == "pack":
            # Servers of the job come first, whatever is free there.
            return keys[2] - (_FIRST if on_it else 0.0)
        o = self.occupancy
        if self.rule == "tetris":
            by_gpus = o.gpus[j] * keys[2] / np.maximum(1.0, keys[0]) ** 2
            by_cpus = o.cpus[j] * keys[3] / np.maximum(1.0, keys[1]) ** 2
            return np.asarray(-np.round(by_gpus + by_cpus, _DECIMALS))
        added = (self.further if on_it else self.first)[o.kind[j]]
        return np.asarray(np.round(added @ keys[4:], _DECIMALS))

    def _count(self, j: int, s: int, sign: int) -> None:
        if self.types:
            n = self.occupancy.jobs_on[s][j] if self.occupancy.instance.per_task else 1
            self.counts[s][self.occupancy.kind[j]] += sign * n

    def _key(self, s: int) -> Key:
        o = self.occupancy
        return (*self.capacity[s], o.free_gpus[s], o.free_cpus[s], *self.counts[s])


class RandomPlacer(Placer):
    """Any server with room, each as likely."""

    def __init__(self, occupancy: Occupancy, rng: np.random.Generator):
        super().__init__(occupancy)
        self.rng = rng

    def choose(self, j: int) -> int | None:
        """Return the server of the next task of a job; None if none has room."""
        o = self.occupancy
        for s in self.rng.integers(len(o.jobs_on), size=_TRIES).tolist():
            if o.room(j, s):
                return int(s)
        fit = [s for s in range(len(o.jobs_on)) if o.room(j, s)]
        return int(self.rng.choice(fit)) if fit else None

    def begin(self, j: int) -> None:
        """Prepare for changes of a job."""
        pass

    def hold(self, j: int, s: int) -> None:
        """Prepare for one more task of the job on a server."""
        pass

    def end(self, j: int) -> None:
        """Take note of where the job is now."""
        pass
