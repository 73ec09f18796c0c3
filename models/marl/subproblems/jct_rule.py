r"""The rule that looks at the objective: the server with which all placed jobs cost least.

One more task of job j on server s, where it has none, costs

.. math::
    W_j t^0_j \max(0, \sigma_{js} - \sigma_j) + W_j \Delta\beta_j
    + \sum_{k \text{ on } s} W_k t^0_k \max(0, \sigma_{ks} + \alpha_{kj} - \sigma_k),

with :math:`\sigma_{ks}` the slowdown of k on s and :math:`\sigma_k` on its bottleneck. The sum,
and :math:`\sigma_{js}`, depend on the type of job j only; both are kept for every type and server,
and change with the servers of the jobs that are disturbed.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints

from .occupancy import Occupancy
from .rules import Placer

#: Difference of two costs, in seconds, that is rounding. Tuned: `benchmarks/constants.py`.
_ROUNDING = 1e-9


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
        for s, jobs in enumerate(o.jobs_on):
            if jobs:
                self._refresh(s)

    def choose(self, j: int) -> int | None:
        """Return the server of the next task of a job; None if none has room."""
        o = self.occupancy
        fit = (self.free_gpus >= o.gpus[j]) & (self.free_cpus >= o.cpus[j])
        if o.measured:
            costs = np.full(len(fit), np.inf)
            for s in np.flatnonzero(fit).tolist():
                costs[s] = self._trial(j, s)
        else:
            costs = np.where(fit, self._costs(j), np.inf)
            for s in o.servers_of[j]:
                if fit[s]:
                    costs[s] = self._trial(j, s)
        least = costs.min(initial=np.inf)
        # The first server that is no worse but for rounding.
        return None if least == np.inf else int(np.argmax(costs <= least + _ROUNDING))

    def _costs(self, j: int) -> Floats:
        """Return what one more task of a job costs on every server where it has none."""
        o, kind = self.occupancy, self.occupancy.kind[j]
        if not o.servers_of[j]:
            return np.asarray(self.cost_s[j] * self.suffered[kind] + self.done[kind])
        more = np.maximum(0.0, self.suffered[kind] - o.worst(j))
        costs = self.cost_s[j] * more + self.done[kind]
        racks = {o.rack[s] for s in o.servers_of[j]}
        if len(racks) == 1:
            here_s, there_s = o.rack_s[j] - o.comm_s(j), o.cross_s[j] - o.comm_s(j)
            costs += o.iterations[j] * np.where(self.rack == racks.pop(), here_s, there_s)
        return np.asarray(costs)

    def begin(self, j: int) -> None:
        """Prepare for changes of a job."""
        self.touched = set(self.occupancy.servers_of[j])

    def hold(self, j: int, s: int) -> None:
        """Prepare for one more task of the job on a server."""
        o = self.occupancy
        self.touched.add(s)
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
