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
from .rules import _DECIMALS, Placer


class JctPlacer(Placer):
    """`greedy_jct` on an occupancy."""

    def __init__(self, occupancy: Occupancy):
        super().__init__(occupancy)
        instance, o = occupancy.instance, occupancy
        servers, types = len(instance.servers), instance.num_types
        self.alpha = instance.alpha
        self.kind = np.array(o.kind, dtype=np.int64)
        self.cost_s = [w * t for w, t in zip(o.iterations, o.base_s, strict=True)]
        self.sigma = [o.worst(j) for j in range(len(o.kind))]
        #: What a newcomer of a type suffers on a server, and what it does to the jobs there.
        self.suffered: Floats = np.zeros((types, servers))
        self.done: Floats = np.zeros((types, servers))
        self.free_gpus = np.array(o.free_gpus, dtype=np.int64)
        self.free_cpus = np.array(o.free_cpus, dtype=np.int64)
        self.rack = np.array(o.rack, dtype=np.int64)
        self.touched: set[int] = set()
        for s, jobs in enumerate(o.jobs_on):
            if jobs:
                self._refresh(s)

    def choose(self, j: int) -> int | None:  # noqa: D102
        o = self.occupancy
        fit = np.flatnonzero((self.free_gpus >= o.gpus[j]) & (self.free_cpus >= o.cpus[j]))
        if not len(fit):
            return None
        there, kind = o.servers_of[j], o.kind[j]
        if o.measured:
            costs = np.array([self._trial(j, s) for s in fit.tolist()])
        else:
            suffered = np.maximum(0.0, self.suffered[kind, fit] - o.worst(j))
            costs = self.cost_s[j] * suffered + self.done[kind, fit]
            if there:
                costs += o.iterations[j] * self._comm_s(j, fit)
                for s in there:
                    at = int(np.searchsorted(fit, s))
                    if at < len(fit) and fit[at] == s:
                        costs[at] = self._trial(j, s)
        return int(fit[np.argmin(np.round(costs, _DECIMALS))])

    def begin(self, j: int) -> None:  # noqa: D102
        self.touched = set(self.occupancy.servers_of[j])

    def hold(self, j: int, s: int) -> None:  # noqa: D102
        o = self.occupancy
        self.touched.add(s)
        self.free_gpus[s] = o.free_gpus[s] - o.gpus[j]
        self.free_cpus[s] = o.free_cpus[s] - o.cpus[j]

    def end(self, j: int) -> None:  # noqa: D102
        o = self.occupancy
        stale = set(self.touched)
        for s in self.touched:
            self.free_gpus[s], self.free_cpus[s] = o.free_gpus[s], o.free_cpus[s]
            for k in (*o.jobs_on[s], j):
                sigma = o.worst(k)
                if sigma != self.sigma[k]:
                    self.sigma[k] = sigma
                    stale.update(o.servers_of[k])
        for s in stale:
            self._refresh(s)

    def _refresh(self, s: int) -> None:
        """Compute both tables for one server."""
        o = self.occupancy
        jobs = list(o.jobs_on[s])
        if not jobs:
            self.suffered[:, s] = self.done[:, s] = 0.0
            return
        kinds = self.kind[jobs]
        if o.instance.per_task:
            tasks = np.array(list(o.jobs_on[s].values()), dtype=np.float64)
            self.suffered[:, s] = self.alpha[:, kinds] @ tasks
        else:
            self.suffered[:, s] = self.alpha[:, kinds].sum(axis=1)
        slack = np.array([o.slowdown(k, s) - self.sigma[k] for k in jobs])
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

    def _comm_s(self, j: int, servers: Ints) -> Floats:
        """Return what an iteration of a job takes longer with a task on one more server each."""
        o = self.occupancy
        racks = {o.rack[s] for s in o.servers_of[j]}
        if len(racks) > 1:
            return np.zeros(len(servers))
        longer_s = np.where(self.rack[servers] == racks.pop(), o.rack_s[j], o.cross_s[j])
        return np.asarray(longer_s - o.comm_s(j))
