r"""The linear relaxation of the program of one slot.

Algorithm 4, after PD-ORS, rounds its optimum. It is (13)-(17) of `slot_program` without
integrality, with a worker or server fixed to 0 on machines where not one of them fits: that keeps
the width of the packing rows at 1 and more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gadgetopt.errors import SolverError
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.pieces.bicriteria import MixedProgram
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.persistent import PersistentLp
from gadgetopt.system.result import Status

from ..terms import JobTerms

#: Closeness to an integer within which a number of the linear optimum is that integer.
#: Tuned: `benchmarks/constants.py`.
INTEGRAL = 1e-7
#: Units that cost less than this part of the optimum are free; those that cost more than
#: 1 / RESOLUTION times the optimum are left out. Tuned: `benchmarks/constants.py`.
RESOLUTION = 1e-7


@dataclass(frozen=True)
class SlotPoint:
    """An optimum of the linear relaxation, or any point of it.

    Attributes
    ----------
    workers, servers : array of float, shape (machines,)
    cost : float
        (13), from the prices given.
    """

    workers: Floats
    servers: Floats
    cost: float

    @property
    def integral(self) -> bool:
        """True if all numbers are integers."""
        return bool((self.workers % 1 == 0).all() and (self.servers % 1 == 0).all())


class SlotLp:
    """The linear relaxation of (13)-(17) of one job in one slot, for one number of workers or many.

    Every solve starts from the basis of the one before, and which of several optimal vertices comes
    out may depend on it: for results that depend on n alone take a new one for each n.

    Parameters
    ----------
    job : JobTerms
    worker_cost, server_cost : array of float, shape (machines,)
        c^w_h and c^s_h.
    room : array of int, shape (machines, resources)
        Free capacity, in units.
    clock : Clock, optional
        Of the run.
    """

    def __init__(
        self,
        job: JobTerms,
        worker_cost: Floats,
        server_cost: Floats,
        room: Ints,
        clock: Clock | None = None,
    ):
        self._job, self._room, self._clock = job, room, clock or Clock()
        self._machines = len(room)
        # A column is a worker on machine h, number h, or a server, number machines + h.
        fits = np.concatenate([(job.alpha <= room).all(axis=1), (job.beta <= room).all(axis=1)])
        self._columns = np.flatnonzero(fits)
        self._cost = np.concatenate([worker_cost, server_cost])[self._columns]
        self._workers = self._columns < self._machines
        self._lp: PersistentLp | None = None

    def point(self, n: int) -> SlotPoint | None:
        """Return an optimal vertex for n workers, or None if the relaxation has no point.

        Prices span many orders of magnitude, so that costs are taken relative to the optimum found
        last until that is of the order of the optimum itself (reconstructed).

        Raises
        ------
        SolverError
            If HiGHS stops without an answer.
        TimeoutError
            If time is up first.
        """
        if not self._workers.any() or self._workers.all():
            return None
        lp = self._program()
        needs = [float(n), float(self._job.servers[n])]
        lp.change_row_bounds([0, 1], needs, [float(self._job.batch), math.inf])
        point: SlotPoint | None = None
        unit, limit = float(self._cost.max()) or 1.0, math.inf
        while True:
            found = self._solve(lp, unit, limit)
            if found is None or (point is not None and found.cost >= point.cost):
                return point
            point = found
            if point.cost == 0 or point.cost >= unit / 2:
                return point
            unit, limit = point.cost, point.cost / RESOLUTION

    def rows(self, n: int) -> MixedProgram:
        """Return costs and rows (13)-(17) for n workers over the variables that are not fixed."""
        job, columns = self._job, len(self._columns)
        covering = np.stack([self._workers, ~self._workers]).astype(float)
        needs = np.array([n, job.servers[n]], dtype=float)
        packing = [self._workers[None, :].astype(float)]
        limits = [np.array([job.batch], dtype=float)]
        machine = self._columns % self._machines
        for r in range(len(job.alpha)):
            row = np.zeros((self._machines, columns))
            demand = np.where(self._workers, job.alpha[r], job.beta[r])
            row[machine, np.arange(columns)] = demand
            used = row.any(axis=1)
            packing.append(row[used])
            limits.append(self._room[used, r].astype(float))
        return MixedProgram(
            self._cost, covering, needs, np.concatenate(packing), np.concatenate(limits)
        )

    def coordinates(self, point: SlotPoint) -> Floats:
        """Return a point as a vector over the variables of `rows`."""
        return np.concatenate([point.workers, point.servers])[self._columns]

    def _solve(self, lp: PersistentLp, unit: float, limit: float) -> SlotPoint | None:
        allowed = self._cost <= limit
        relative = np.where(allowed, self._cost / unit, 0.0)
        relative[relative < RESOLUTION] = 0.0
        columns, zero = np.arange(len(self._cost)), np.zeros(len(self._cost))
        lp.change_costs(columns, relative)
        lp.change_column_bounds(columns, zero, np.where(allowed, math.inf, 0.0))
        status = lp.solve(self._clock.limits())
        if status is Status.INFEASIBLE:
            return None
        if lp.limit_hit == "time_s":
            raise TimeoutError
        if status is not Status.OPTIMAL:
            raise SolverError(f"relaxation of the slot program: {status}")
        x = np.maximum(lp.values, 0.0)
        x = np.where(np.abs(x - np.round(x)) <= INTEGRAL, np.round(x), x)
        whole = np.zeros(2 * self._machines)
        whole[self._columns] = x
        workers, servers = whole[: self._machines], whole[self._machines :]
        return SlotPoint(workers, servers, float(x @ self._cost))

    def _program(self) -> PersistentLp:
        if self._lp is not None:
            return self._lp
        lp, count = PersistentLp("min"), len(self._columns)
        lp.add_columns(np.zeros(count), np.zeros(count), np.full(count, math.inf))
        workers, servers = np.flatnonzero(self._workers), np.flatnonzero(~self._workers)
        lp.add_rows(
            [0.0, 0.0],
            [math.inf, math.inf],
            [0, len(workers)],
            np.concatenate([workers, servers]),
            np.ones(count),
        )
        self._add_capacity(lp, workers, servers)
        self._lp = lp
        return lp

    def _add_capacity(self, lp: PersistentLp, workers: Ints, servers: Ints) -> None:
        """Add the rows (17) that can bind, each divided by its right side."""
        job = self._job
        column = np.full(2 * self._machines, -1)
        column[self._columns] = np.arange(len(self._columns))
        whole = self._job.batch * job.alpha + int(job.servers[-1]) * job.beta
        starts: list[int] = []
        columns: list[int] = []
        values: list[float] = []
        for h, left in enumerate(self._room.tolist()):
            for r in range(len(left)):
                if whole[r] <= left[r]:
                    continue
                entries = [
                    (int(at), demand / left[r])
                    for at, demand in (
                        (column[h], int(job.alpha[r])),
                        (column[self._machines + h], int(job.beta[r])),
                    )
                    # Smaller coefficients cannot make the row bind; attempts are tested exactly.
                    if at >= 0 and demand > 1e-9 * left[r]
                ]
                if entries:
                    starts.append(len(columns))
                    columns += [at for at, _ in entries]
                    values += [value for _, value in entries]
        if starts:
            rows = len(starts)
            lp.add_rows(np.full(rows, -math.inf), np.ones(rows), starts, columns, values)
