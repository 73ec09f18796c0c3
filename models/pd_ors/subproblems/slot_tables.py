r"""Slot tables: the least cost of n workers in one slot, for every n.

Algorithm 4, after PD-ORS. *Internal*: n workers and :math:`\lceil n / \gamma \rceil` servers on one
machine. *External*: the mixed packing and covering program (13)-(18) over machines, solved for all
n at once by a dynamic program over machines (here, reconstructed), or one n at a time by the other
methods.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints

from ..instance import Placement
from ..terms import JobTerms

Placements = tuple[Placement, ...]

#: A machine program of at most this many entries keeps them all, to read plans from.
#: Tuned: `benchmarks/constants.py`.
KEPT_ENTRIES = 2**18


@dataclass(frozen=True, eq=False)
class SlotTable:
    """Least costs of one job in one slot, and where its workers and servers then are.

    Attributes
    ----------
    internal, external : array of float, shape (F + 1,)
        Cost of n workers with their servers; infinite where they do not fit.
    machine : array of int, shape (F + 1,)
        The machine of the internal case.
    place_external : function of n
        Placements of the external case.
    """

    internal: Floats
    external: Floats
    machine: Ints
    servers: Ints
    place_external: Callable[[int], Placements]
    _known: dict[tuple[bool, int], Placements] = field(default_factory=dict, repr=False)

    def placements(self, internal: bool, n: int) -> Placements:
        """Return where n workers and their servers are."""
        known = self._known.get((internal, n))
        if known is None:
            known = self._internal(n) if internal else self.place_external(n)
            self._known[internal, n] = known
        return known

    def _internal(self, n: int) -> Placements:
        machine, servers = int(self.machine[n]), int(self.servers[n])
        return (Placement(machine=machine, workers=n, servers=servers),)


@dataclass(frozen=True, eq=False)
class Room:
    """Prices and free capacities of one slot for one job.

    Attributes
    ----------
    worker_cost, server_cost : array of float, shape (machines,)
        c^w_h and c^s_h, the prices of what one of them takes.
    room : array of int, shape (machines, resources)
        In units.
    least, most : array of int, shape (machines,), optional
        Bounds on the workers of the job on each machine.
    """

    worker_cost: Floats
    server_cost: Floats
    room: Ints
    least: Ints | None = None
    most: Ints | None = None


def units_that_fit(demand: Ints, room: Ints, cap: int) -> Ints:
    """Return how many of one demand fit into each row of room, at most `cap`."""
    count = np.full(room.shape[:-1], cap, dtype=np.int64)
    for r in np.flatnonzero(demand):
        count = np.minimum(count, room[..., r] // demand[r])
    return count


def internal_table(job: JobTerms, slot: Room) -> tuple[Floats, Ints]:
    """Return the least cost of n workers and their servers on one machine, and which; ties lowest.

    Returns
    -------
    cost : array of float, shape (F + 1,)
    machine : array of int, shape (F + 1,)
    """
    cost = np.full(job.batch + 1, np.inf)
    machine = np.zeros(job.batch + 1, dtype=np.int64)
    most = job.most_fitting(slot.room)
    if slot.most is not None:
        most = np.minimum(most, slot.most)
    n = np.flatnonzero(job.usable[: int(most.max(initial=0)) + 1])[1:]
    if len(n):
        each = n[:, None] * slot.worker_cost + job.servers[n][:, None] * slot.server_cost
        each[n[:, None] > most] = np.inf
        if slot.least is not None and slot.least.any():
            others = slot.least.astype(bool).sum() - slot.least.astype(bool)
            each[(n[:, None] < slot.least) | (others > 0)] = np.inf
        machine[n] = each.argmin(axis=1)
        cost[n] = each[np.arange(len(n)), machine[n]]
    return cost, machine


def exact_table(job: JobTerms, slot: Room) -> SlotTable:
    """Return the slot table whose external costs are those of (13)-(18), all n at once.

    Machines are taken one after the other; the state is (workers, servers) placed so far. Time
    O(machines * F^2 / gamma * (workers + servers that fit on a machine)).
    """
    internal, machine = internal_table(job, slot)
    external = np.full(job.batch + 1, np.inf)
    if job.most_external == 0:
        return SlotTable(internal, external, machine, job.servers, nowhere)
    program = MachineProgram(job, slot)
    if program.most:
        n = np.arange(program.most + 1)
        external[: len(n)] = program.costs()[n, job.servers[n]]
    external[~job.usable[: len(external)]] = np.inf
    external[0] = np.inf
    return SlotTable(internal, external, machine, job.servers, program.placements)


def nowhere(n: int) -> Placements:
    """Stand in for the external case where there is none."""
    raise ValueError(f"{n} workers are not spread over machines here")


class MachineProgram:
    """The dynamic program over machines for (13)-(18).

    Attributes
    ----------
    most : int
        The most workers considered: those that fit by volume.
    """

    def __init__(self, job: JobTerms, slot: Room):
        self._job = job
        cap = job.servers[-1]
        workers = units_that_fit(job.alpha, slot.room, job.batch)
        servers = units_that_fit(job.beta, slot.room, int(cap))
        if slot.most is not None:
            workers = np.minimum(workers, slot.most)
        least = np.zeros(len(workers), dtype=np.int64) if slot.least is None else slot.least
        self._machines = np.flatnonzero((workers > 0) | (servers > 0) | (least > 0))
        self._slot = slot
        self._workers, self._least = workers, least
        volume = job.most_fitting(slot.room.sum(axis=0, keepdims=True))
        self.most: int = min(int(volume[0]), job.most_external)
        self._layers: list[Floats] | None = None

    def costs(self) -> Floats:
        """Return the least cost of every pair (workers, servers), shape (most + 1, servers + 1)."""
        most_servers = int(self._job.servers[self.most])
        entries = (self.most + 1) * (most_servers + 1) * (len(self._machines) + 1)
        keep = entries <= KEPT_ENTRIES
        layers = self._run(self.most, most_servers, keep=keep)
        self._layers = layers if keep else None
        return layers[-1]

    def placements(self, n: int) -> Placements:
        """Return where n workers and their servers are; on ties machines of a low number fill."""
        a, b = n, int(self._job.servers[n])
        layers = self._layers or self._run(a, b, keep=True)
        found = []
        for k in range(len(self._machines) - 1, -1, -1):
            w, s = self._step(k, layers[k], layers[k + 1][a, b], a, b)
            if w or s:
                found.append(Placement(machine=int(self._machines[k]), workers=w, servers=s))
            a, b = a - w, b - s
        return tuple(found[::-1])

    def _run(self, most: int, most_servers: int, *, keep: bool) -> list[Floats]:
        table = np.full((most + 1, most_servers + 1), np.inf)
        table[0, 0] = 0.0
        layers = [table]
        for k in range(len(self._machines)):
            least, beside, worker_cost, server_cost = self._machine(k, most, most_servers)
            window, reach = table.copy(), 0
            after = np.full_like(table, np.inf)
            # The fewer workers, the more servers fit: the window over servers only grows.
            for w in range(len(beside) - 1, least - 1, -1):
                for s in range(reach + 1, int(beside[w]) + 1):
                    np.minimum(window[:, s:], table[:, :-s] + server_cost * s, out=window[:, s:])
                reach = max(reach, int(beside[w]))
                np.minimum(after[w:], window[: most + 1 - w] + worker_cost * w, out=after[w:])
            table = after
            if keep:
                layers.append(table)
        return layers if keep else [table]

    def _machine(self, k: int, most: int, most_servers: int) -> tuple[int, Ints, float, float]:
        """Return the least workers, the most servers beside w workers, and the costs of each."""
        job, h = self._job, self._machines[k]
        w = np.arange(min(most, int(self._workers[h])) + 1, dtype=np.int64)
        left = self._slot.room[h] - w[:, None] * job.alpha
        beside = units_that_fit(job.beta, left, most_servers)
        cost = float(self._slot.worker_cost[h]), float(self._slot.server_cost[h])
        return int(self._least[h]), beside, *cost

    def _step(self, k: int, before: Floats, value: float, a: int, b: int) -> tuple[int, int]:
        """Return the fewest workers, then servers, of machine k that lead to the value."""
        least, beside, worker_cost, server_cost = self._machine(k, a, b)
        for w in range(least, len(beside)):
            s = np.arange(min(b, int(beside[w])) + 1)
            hits = np.flatnonzero(before[a - w, b - s] + server_cost * s + worker_cost * w == value)
            if len(hits):
                return w, int(hits[0])
        raise AssertionError("the machine program has no step that leads here")
