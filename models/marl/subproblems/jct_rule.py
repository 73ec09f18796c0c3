r"""The rule that looks at the objective: the server with which all placed jobs cost least.

One more task of job j on server s, where it has none, costs

.. math::
    W_j t^0_j \max(0, \sigma_{js} - \sigma_j) + W_j \Delta\beta_j
    + \sum_{k \text{ on } s} W_k t^0_k \max(0, \sigma_{ks} + \alpha_{kj} - \sigma_k),

with :math:`\sigma_{ks}` the slowdown of k on s and :math:`\sigma_k` on its bottleneck. The sum,
and :math:`\sigma_{js}`, depend on the type of job j only; both are kept for every type and server,
and change with the servers of the jobs that are disturbed. On many servers, those that are alike
but for the sum are looked at as one (`search.groups_by_cost`), which finds the same server.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.search.groups_by_cost import GroupsByCost

from .occupancy import Occupancy
from .rules import Placer

#: Difference of two costs, in seconds, that is rounding. Tuned: `benchmarks/constants.py`.
_ROUNDING = 1e-9
#: Servers for each type from which on groups of them are looked at: keeping the groups takes time
#: for every type. Tuned: `benchmarks/constants.py`.
_MANY = 1500


class JctPlacer(Placer):
    """`greedy_jct` on an occupancy."""

    def __init__(self, occupancy: Occupancy):
        super().__init__(occupancy)
        instance, o = occupancy.instance, occupancy
        servers, types = len(instance.servers), instance.num_types
        self.alpha: Floats = instance.alpha
        self.kind: Ints = np.array(o.kind, dtype=np.int64)
        self.cost_s: list[float] = [w * t for w, t in zip(o.iterations, o.base_s, strict=True)]
        self.sigma: list[float] = [o.worst(j) for j in range(len(o.kind))]
        #: What a newcomer of a type suffers on a server, and what it does to the jobs there.
        self.suffered: Floats = np.zeros((types, servers))
        self.done: Floats = np.zeros((types, servers))
        self.free_gpus: Ints = np.array(o.free_gpus, dtype=np.int64)
        self.free_cpus: Ints = np.array(o.free_cpus, dtype=np.int64)
        self.rack: Ints = np.array(o.rack, dtype=np.int64)
        self.touched: set[int] = set()
        self.groups: GroupsByCost | None = None
        for s, jobs in enumerate(o.jobs_on):
            if jobs:
                self._refresh(s)

    def choose(self, j: int) -> int | None:
        """Return the server of the next task of a job; None if none has room."""
        o = self.occupancy
        if not o.measured and len(o.jobs_on) >= _MANY * o.instance.num_types:
            return self._choose_by_groups(j)
        fit = (self.free_gpus >= o.gpus[j]) & (self.free_cpus >= o.cpus[j])
        if o.measured:
            costs = np.full(len(fit), np.inf)
            for s in np.flatnonzero(fit).tolist():
                costs[s] = self._trial(j, s)
        else:
            before, after = self._terms(j, self.suffered[o.kind[j]], self.rack)
            costs = np.where(fit, (before + self.done[o.kind[j]]) + after, np.inf)
            for s in o.servers_of[j]:
                if fit[s]:
                    costs[s] = self._trial(j, s)
        least = costs.min(initial=np.inf)
        # The first server that is no worse but for rounding.
        return None if least == np.inf else int(np.argmax(costs <= least + _ROUNDING))

    def _choose_by_groups(self, j: int) -> int | None:
        """Return the same as `choose`, from groups of servers and those of the job."""
        o, kind = self.occupancy, self.occupancy.kind[j]
        if self.groups is None:
            self.groups = GroupsByCost(o.instance.num_types)
            for s in range(len(o.jobs_on)):
                if s not in o.servers_of[j]:
                    self._regroup(s)
        groups = self.groups
        before, after = self._terms(j, groups.suffered(kind), groups.racks)
        fit = (groups.free_gpus >= o.gpus[j]) & (groups.free_cpus >= o.cpus[j])
        costs = np.where(fit, (before + groups.least_done(kind)) + after, np.inf)
        own = {
            s: self._trial(j, s)
            for s in o.servers_of[j]
            if self.free_gpus[s] >= o.gpus[j] and self.free_cpus[s] >= o.cpus[j]
        }
        least = min(float(costs.min(initial=np.inf)), *own.values(), np.inf)
        if least == np.inf:
            return None
        most = least + _ROUNDING
        found = [s for s, cost in own.items() if cost <= most]
        found += [
            groups.first(row, kind, float(before[row]), float(after[row]), most)
            for row in np.flatnonzero(costs <= most).tolist()
        ]
        return min(found)

    def _terms(self, j: int, suffered: Floats, racks: Ints) -> tuple[Floats, Floats]:
        """Return what is added before and after what is done to the jobs of a server.

        Together it is what one more task of a job costs on a server where it has none.
        """
        o = self.occupancy
        if not o.servers_of[j]:
            return self.cost_s[j] * suffered, np.zeros(len(suffered))
        before = self.cost_s[j] * np.maximum(0.0, suffered - o.worst(j))
        own_racks = {o.rack[s] for s in o.servers_of[j]}
        if len(own_racks) > 1:
            return before, np.zeros(len(suffered))
        here_s, there_s = o.rack_s[j] - o.comm_s(j), o.cross_s[j] - o.comm_s(j)
        return before, o.iterations[j] * np.where(racks == own_racks.pop(), here_s, there_s)

    def begin(self, j: int) -> None:
        """Prepare for changes of a job."""
        self.touched = set(self.occupancy.servers_of[j])
        if self.groups is not None:
            for s in self.touched:
                self.groups.discard(s)

    def hold(self, j: int, s: int) -> None:
        """Prepare for one more task of the job on a server."""
        o = self.occupancy
        self.touched.add(s)
        if self.groups is not None:
            self.groups.discard(s)
        self.free_gpus[s] = o.free_gpus[s] - o.gpus[j]
        self.free_cpus[s] = o.free_cpus[s] - o.cpus[j]

    def end(self, j: int) -> None:
        """Take note of where the job is now."""
        o = self.occupancy
        stale = set(self.touched)
        came = bool(o.servers_of[j]) and not o.measured
        for s in self.touched:
            self.free_gpus[s], self.free_cpus[s] = o.free_gpus[s], o.free_cpus[s]
            jobs = list(o.jobs_on[s])
            for k, slowdown in zip(jobs, self._slowdowns(s, jobs).tolist(), strict=True):
                # Where nobody leaves, nobody is slowed down less.
                sigma = max(self.sigma[k], slowdown) if came else o.worst(k)
                if sigma != self.sigma[k]:
                    self.sigma[k] = sigma
                    stale.update(o.servers_of[k])
        if not o.servers_of[j]:
            self.sigma[j] = 0.0
        for s in stale:
            self._refresh(s)
            self._regroup(s)

    def _regroup(self, s: int) -> None:
        """Put a server into the group that it belongs to now."""
        if self.groups is None:
            return
        self.groups.discard(s)
        room = int(self.rack[s]), int(self.free_gpus[s]), int(self.free_cpus[s])
        self.groups.add(s, room, self.suffered[:, s], self.done[:, s].tolist())

    def _slowdowns(self, s: int, jobs: list[int]) -> Floats:
        """Return the slowdown of every job on a server."""
        o = self.occupancy
        if o.measured:
            return np.array([o.slowdown(k, s) for k in jobs])
        kinds = self.kind[jobs]
        between = self.alpha[kinds[:, None], kinds]
        if o.instance.per_task:
            between = between * [o.jobs_on[s][k] for k in jobs]
        return np.asarray(between.sum(axis=1) - between.diagonal())

    def _refresh(self, s: int) -> None:
        """Compute both tables for one server."""
        o = self.occupancy
        jobs = list(o.jobs_on[s])
        if not jobs:
            self.suffered[:, s] = self.done[:, s] = 0.0
            return
        kinds = self.kind[jobs]
        tasks = [o.jobs_on[s][k] if o.instance.per_task else 1 for k in jobs]
        self.suffered[:, s] = self.alpha[:, kinds] @ np.array(tasks, dtype=np.float64)
        slack = self._slowdowns(s, jobs) - np.array([self.sigma[k] for k in jobs])
        cost_s = np.array([self.cost_s[k] for k in jobs])
        self.done[:, s] = cost_s @ np.maximum(0.0, slack[:, None] + self.alpha[kinds])

    def _trial(self, j: int, s: int) -> float:
        """Return what one more task of a job on a server costs, by putting it there."""
        o = self.occupancy
        jobs = {*o.jobs_on[s], j}
        before = o.cost_of(jobs)
        o.put(j, s)
        after = o.cost_of(jobs)
        o.put(j, s, -1)
        return after - before
