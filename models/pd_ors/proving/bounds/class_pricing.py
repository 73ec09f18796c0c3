r"""Pricing of schedules by class of machines: equal capacities have equal prices.

Machines of a class may be permuted in every slot by itself, and the average of all permutations of
a solution of the linear relaxation of (10) is a solution of the same value. So the relaxation needs
one capacity row for each slot, class and resource, and prices differ between classes only.
Spreading n workers over the machines of one class then costs the same wherever they are, and it is
enough to know which n fit at all; with several classes the program over machines decides where it
is small, and else workers and servers fill the cheapest classes each for itself, which relaxes the
problem (reconstructed).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints

from ...instance import Placement
from ...subproblems.kernel import (
    Allow,
    Plan,
    plans,
)
from ...subproblems.labels import (
    Scale,
    exact_scale,
    quantised_scale,
)
from ...subproblems.slot_methods import exact_steps
from ...subproblems.slot_tables import (
    Room,
    SlotTable,
    exact_table,
    internal_table,
)
from ...terms import JobTerms
from .branching_constraints import BranchingConstraint
from .forced_plans import forced_plans

#: The program over machines is run where it takes about this many steps or fewer.
#: Tuned: `benchmarks/constants.py`.
MOST_STEPS = 300_000

#: Worker-slots inside and spread, multiplied, up to which progress is counted exactly.
#: Tuned: `benchmarks/constants.py`.
MOST_LATTICE = 20_000


class Classes:
    """Machines of equal capacity.

    Attributes
    ----------
    of_machine : array of int, shape (machines,)
    count : array of int, shape (classes,)
    capacity : array of int, shape (classes, resources)
        Of one machine, in units.
    """

    def __init__(self, job: JobTerms):
        terms = job.instance.terms
        self.of_machine: Ints = terms.classes
        _, first, count = np.unique(terms.classes, return_index=True, return_counts=True)
        self.first: Ints = first
        self.count: Ints = count
        self.capacity: Ints = terms.capacity[first]


class JobPricing:
    """Cheapest plans of one job at prices of classes, slots and resources.

    The placements of its plans name classes instead of machines.

    Parameters
    ----------
    job : JobTerms
        A job that can complete within the horizon.
    """

    def __init__(self, job: JobTerms):
        self.job = job
        self._classes = Classes(job)
        most = job.most_external
        free = np.zeros(len(job.capacity))
        small = exact_steps(job, Room(free, free, job.capacity)) <= MOST_STEPS
        self._by_machine = small and len(self._classes.count) > 1
        self._packable = job.usable.copy()
        self._packable[most + 1 :] = False
        if small and most:
            table = exact_table(job, Room(free, free, job.capacity))
            self._packable &= np.isfinite(table.external)
        self._packable[0] = False
        self._most_workers = self._of_classes(job.most_workers_on)
        self._most_servers = self._of_classes(job.most_servers_on)
        needed = job.external_needed
        #: True if progress is counted exactly; otherwise in quanta, rounded down.
        self.exact: bool = len(needed) * (int(needed[0]) + 1) <= MOST_LATTICE
        self._scales: dict[int, Scale] = {}

    def plans(
        self,
        price: Floats,
        quanta: int,
        *,
        allow: Allow | None = None,
        forced: list[bool] | None = None,
        surcharges: Sequence[tuple[BranchingConstraint, float]] = (),
    ) -> dict[int, Plan]:
        """Return the cheapest plan for every completion slot.

        Parameters
        ----------
        price : array, shape (slots, classes, resources)
            Per unit, at least 0; slot t is at t - 1.
        quanta : int
            Parts of the work, where progress is not counted exactly.
        allow, forced
            As in `forced_plans`.
        surcharges : sequence of (BranchingConstraint, float)
            Extra cost of meeting a constraint.
        """
        job = self.job
        worker, server = price @ job.alpha, price @ job.beta
        alike: dict[bytes, SlotTable] = {}
        tables = []
        for t in range(job.arrival, len(price) + 1):
            key = worker[t - 1].tobytes() + server[t - 1].tobytes()
            if key not in alike:
                alike[key] = self._table(worker[t - 1], server[t - 1])
            tables.append(alike[key])
        for constraint, charge in surcharges:
            k = constraint.slot - job.arrival
            tables[k] = _charged(tables[k], constraint, charge)
        scale = self._scale(quanta)
        if allow is not None and forced is not None and any(forced):
            return forced_plans(job, tables, scale, allow, forced)
        return plans(job, tables, scale, allow=allow)

    def _scale(self, quanta: int) -> Scale:
        at = 0 if self.exact else quanta
        if at not in self._scales:
            self._scales[at] = quantised_scale(self.job, at) if at else exact_scale(self.job)
        return self._scales[at]

    def _of_classes(self, most: Ints) -> Ints:
        return most[self._classes.first] * self._classes.count

    def _table(self, worker: Floats, server: Floats) -> SlotTable:
        job, classes = self.job, self._classes
        if self._by_machine:
            own = classes.of_machine
            exact = exact_table(job, Room(worker[own], server[own], job.capacity))

            def place(n: int) -> tuple[Placement, ...]:
                return tuple(
                    Placement(machine=int(own[p.machine]), workers=p.workers, servers=p.servers)
                    for p in exact.place_external(n)
                )

            return SlotTable(exact.internal, exact.external, own[exact.machine], job.servers, place)
        internal, machine = internal_table(job, Room(worker, server, classes.capacity))
        fill = _Fill(job, worker, server, self._most_workers, self._most_servers)
        external = np.where(self._packable, fill.cost, np.inf)
        return SlotTable(internal, external, machine, job.servers, fill.placements)


def _charged(table: SlotTable, constraint: BranchingConstraint, charge: float) -> SlotTable:
    n = np.arange(len(table.internal))
    return replace(
        table,
        internal=table.internal + charge * constraint.met_by(True, n),
        external=table.external + charge * constraint.met_by(False, n),
    )


class _Fill:
    """Workers and servers spread over classes, each kind where it is cheapest."""

    def __init__(self, job: JobTerms, worker: Floats, server: Floats, workers: Ints, servers: Ints):
        self._job = job
        self._orders = []
        costs = []
        for cost, most, number in (
            (worker, workers, job.batch),
            (server, servers, int(job.servers[-1])),
        ):
            order = np.argsort(cost, kind="stable")
            # How many pieces the classes before this one take, and what these cost.
            before = np.concatenate(([0], np.cumsum(most[order])))
            spent = np.concatenate(([0.0], np.cumsum(most[order] * cost[order])))
            n = np.arange(number + 1)
            k = np.minimum(np.searchsorted(before, n, side="right") - 1, len(order) - 1)
            total = spent[k] + (n - before[k]) * cost[order][k]
            costs.append(np.where(n <= before[-1], total, np.inf))
            self._orders.append((order, before))
        self.cost: Floats = costs[0] + costs[1][job.servers]

    def placements(self, n: int) -> tuple[Placement, ...]:
        """Return what n workers and their servers have in each class."""
        have = np.zeros((2, len(self._orders[0][0])), dtype=np.int64)
        for kind, number in enumerate((n, int(self._job.servers[n]))):
            order, before = self._orders[kind]
            have[kind, order] = np.diff(np.minimum(before, number))
        return tuple(
            Placement(machine=int(c), workers=int(have[0, c]), servers=int(have[1, c]))
            for c in np.flatnonzero(have.any(axis=0))
        )
