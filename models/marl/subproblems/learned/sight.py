r"""What a policy sees when it places a task of a job (reconstructed).

A table of interference differs from cluster to cluster, so what lies on a GPU is not shown by its
type, but by what it does to the job at hand and suffers from it. Costs are in units of the mean
:math:`W_j t^0_j` of all jobs. `waiting` jobs are those that come later.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats, Ints

from ..jct_rule import JctPlacer
from ..occupancy import Occupancy
from .fabric import BOARD, Fabric

#: Features of a node of a server: socket, GPU, network card, share free, slowdown that the
#: occupant of the GPU causes and suffers, its cost, whether it is the job at hand. By definition.
NODE_FEATURES = 8
#: Features of a server: GPUs free afterwards, empty, interference added, what the job suffers,
#: what the jobs there suffer, communication, job is there, job is in the rack, room for its
#: remaining tasks, what a waiting job would cost there in the mean and at least, GPUs free in rack,
#: share of GPUs left free times what the job and one that is waiting there would cost each other,
#: in the mean and at least. By definition.
SERVER_FEATURES = 14
#: Features of the job: tasks left and of all, GPUs and CPUs of a task, its cost, communication in
#: the rack and across, disturbs itself, disturbed by and disturbs those waiting, waiting GPUs by
#: free ones, whether it was forwarded. By definition.
JOB_FEATURES = 12
#: Beyond this, a feature says no more. By definition.
LARGEST = 5.0


@dataclass(frozen=True)
class Sight:
    """What is seen before a task is placed.

    Attributes
    ----------
    nodes : array, shape (servers, nodes, NODE_FEATURES)
    servers : array, shape (servers, SERVER_FEATURES)
    job : array, shape (JOB_FEATURES,)
    fit : array of bool, shape (servers,)
        Servers with room for the task.
    """

    nodes: Floats
    servers: Floats
    job: Floats
    fit: Bools


class Watch(JctPlacer):
    """The tables of `greedy_jct`, and beside them what a policy sees.

    Parameters
    ----------
    occupancy : Occupancy
    fabric : Fabric

    Attributes
    ----------
    waiting : set of int
        Jobs that come later; those that have no servers, at first.
    """

    def __init__(self, occupancy: Occupancy, fabric: Fabric):
        types, servers = occupancy.instance.num_types, len(occupancy.jobs_on)
        self.fabric = fabric
        self.harm: Floats = np.zeros((types, servers))
        self.residents: Floats = np.zeros(servers)
        self.occupant: Ints = np.full(
            (servers, fabric.gpu_nodes.shape[1] - BOARD), -1, dtype=np.int64
        )
        self.spread: Floats = np.zeros(servers)
        super().__init__(occupancy)
        self.all_gpus: Ints = np.maximum(1, occupancy.instance.gpus)
        self.all_cpus: Ints = np.maximum(1, occupancy.instance.cpus)
        self.costs: Floats = np.array(self.cost_s)
        self.mean_s: float = max(1e-12, float(np.mean(self.cost_s))) if self.cost_s else 1.0
        self.demand: Ints = np.array([
            job.num_tasks * job.gpus_per_task for job in occupancy.instance.jobs
        ])  # fmt: skip
        self.waiting: set[int] = {j for j, there in enumerate(occupancy.servers_of) if not there}
        for s, jobs in enumerate(occupancy.jobs_on):
            if jobs:
                self._look(s)

    def begin(self, j: int) -> None:
        """Prepare for changes of a job."""
        self.waiting.discard(j)
        super().begin(j)

    def end(self, j: int) -> None:
        """Take note of where the job is now."""
        super().end(j)
        for s in self.touched:
            self._look(s)

    def see(self, j: int, *, forwarded: bool = False) -> Sight:
        """Return what is seen before the next task of a job is placed."""
        o = self.occupancy
        for s in self.touched:
            self._look(s)
        fit = (self.free_gpus >= o.gpus[j]) & (self.free_cpus >= o.cpus[j])
        return Sight(
            np.clip(self._nodes(j), -LARGEST, LARGEST),
            np.clip(self._servers(j), -LARGEST, LARGEST),
            np.clip(self._job(j, forwarded), -LARGEST, LARGEST),
            fit,
        )

    def _refresh(self, s: int) -> None:
        super()._refresh(s)
        jobs = list(self.occupancy.jobs_on[s])
        self.residents[s] = len(jobs)
        self.harm[:, s] = self.alpha[self.kind[jobs]].sum(axis=0) if jobs else 0.0

    def _look(self, s: int) -> None:
        """Take note of who is on the GPUs of a server."""
        o = self.occupancy
        there = [j for j, n in o.jobs_on[s].items() for _ in range(n * o.gpus[j])]
        self.occupant[s] = -1
        self.occupant[s, : len(there)] = there
        spread = sum(len(o.servers_of[j]) > 1 for j in o.jobs_on[s])
        self.spread[s] = spread / max(1, len(o.jobs_on[s]))

    def _nodes(self, j: int) -> Floats:
        fabric, o = self.fabric, self.occupancy
        nodes = np.zeros((*fabric.gpu_nodes.shape, NODE_FEATURES))
        nodes[:, :2, 0] = 1.0
        nodes[:, 2, 2] = 1.0
        nodes[:, :2, 3] = (np.array(o.free_cpus) / self.all_cpus)[:, None]
        nodes[:, 2, 3] = 1.0 - self.spread
        gpus = nodes[:, BOARD:]
        gpus[:, :, 1] = fabric.gpu_nodes[:, BOARD:]
        busy = self.occupant >= 0
        gpus[:, :, 3] = gpus[:, :, 1] * ~busy
        who = self.occupant[busy]
        if len(who):
            kinds, own = self.kind[who], who == j
            cost = self.costs[who] / self.mean_s
            caused, suffered = self.alpha[o.kind[j], kinds], self.alpha[kinds, o.kind[j]]
            shown = np.stack([~own * caused, ~own * suffered, cost, own], axis=1)
            gpus[busy, 4:] = shown
        return nodes

    def _servers(self, j: int) -> Floats:
        o = self.occupancy
        kind, there = o.kind[j], o.servers_of[j]
        on_it = np.zeros(len(o.jobs_on), dtype=np.bool_)
        on_it[list(there)] = True
        per_task = o.instance.per_task
        suffers = self.cost_s[j] * np.maximum(0.0, self.suffered[kind] - o.worst(j))
        done = self.done[kind] if per_task else np.where(on_it, 0.0, self.done[kind])
        added = np.where(on_it, 0.0, self.suffered[kind] + self.harm[kind])
        comm_s = o.iterations[j] * self._communication(j)
        left = o.instance.jobs[j].num_tasks - sum(there.values())
        gpus, cpus = np.array(o.free_gpus), np.array(o.free_cpus)
        room = (gpus >= left * o.gpus[j]) & (cpus >= left * o.cpus[j])
        in_rack = on_it.astype(np.float64) @ self.fabric.switch_of @ self.fabric.switch_of.T > 0
        rack_free = self.fabric.switch_of @ (self.fabric.switch_of.T @ gpus)
        rack_all = self.fabric.switch_of @ (self.fabric.switch_of.T @ self.all_gpus)
        mean, least = self._later()
        mean_pair, least_pair = self._partners(j)
        left_free = np.maximum(0, gpus - o.gpus[j]) / self.all_gpus
        return np.stack(
            [
                (gpus - o.gpus[j]) / self.all_gpus,
                (self.residents == 0) & ~on_it,
                added,
                suffers / self.mean_s,
                done / self.mean_s,
                comm_s / self.mean_s,
                on_it,
                in_rack,
                room,
                mean,
                least,
                rack_free / rack_all,
                left_free * mean_pair,
                left_free * least_pair,
            ],
            axis=1,
        )

    def _communication(self, j: int) -> Floats:
        """Return what an iteration of a job takes longer with a task on one more server each."""
        o = self.occupancy
        racks = {o.rack[s] for s in o.servers_of[j]}
        if len(racks) != 1:
            return np.zeros(len(o.jobs_on))
        longer = np.where(self.rack == racks.pop(), o.rack_s[j], o.cross_s[j]) - o.comm_s(j)
        longer[list(o.servers_of[j])] = 0.0
        return np.asarray(longer)

    def _later(self) -> tuple[Floats, Floats]:
        """Return what one more task of a waiting job would cost on each server, mean and least."""
        waiting = sorted(self.waiting)
        if not waiting:
            none = np.zeros(len(self.residents))
            return none, none
        kinds, costs = self.kind[waiting], self.costs[waiting]
        each = costs[:, None] * self.suffered[kinds] + self.done[kinds]
        return each.mean(axis=0) / self.mean_s, each.min(axis=0) / self.mean_s

    def _partners(self, j: int) -> tuple[float, float]:
        """Return what a job and a waiting one cost each other on one server, mean and least."""
        waiting = sorted(self.waiting)
        if not waiting:
            return 0.0, 0.0
        kinds, costs = self.kind[waiting], self.costs[waiting]
        kind = self.occupancy.kind[j]
        both = self.cost_s[j] * self.alpha[kind, kinds] + costs * self.alpha[kinds, kind]
        return float(both.mean()) / self.mean_s, float(both.min()) / self.mean_s

    def _job(self, j: int, forwarded: bool) -> Floats:
        o = self.occupancy
        job = o.instance.jobs[j]
        waiting = sorted(self.waiting)
        kinds = self.kind[waiting]
        left = job.num_tasks - sum(o.servers_of[j].values())
        free = max(1, sum(o.free_gpus))
        cost = self.cost_s[j] / self.mean_s
        return np.array([
            left / job.num_tasks,
            np.log1p(job.num_tasks),
            job.gpus_per_task / self.all_gpus.max(),
            job.cpus_per_task / self.all_cpus.max(),
            cost,
            cost * o.rack_s[j] / o.base_s[j],
            cost * o.cross_s[j] / o.base_s[j],
            self.alpha[o.kind[j], o.kind[j]],
            self.alpha[o.kind[j], kinds].mean() if waiting else 0.0,
            self.alpha[kinds, o.kind[j]].mean() if waiting else 0.0,
            self.demand[waiting].sum() / free,
            float(forwarded),
        ])  # fmt: skip
