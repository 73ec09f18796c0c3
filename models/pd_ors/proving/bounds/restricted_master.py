r"""Restricted master over schedule columns (10), with one capacity row for each class of machines.

.. math::
    \max \sum_\pi u_\pi x_\pi, \qquad \sum_\pi \frac{a^\pi_{tcr}}{|c|\, C_c^r} x_\pi \le 1, \qquad
    \sum_{\pi \in \Pi_i} x_\pi \le 1, \qquad x \ge 0,

with :math:`a^\pi_{tcr}` what the schedule takes of resource r on machines of class c in slot t. In
nodes of branch-and-price a job may have to be accepted; it then has a penalty column beside its
schedules, so that the program stays feasible. A cut concerns a set A of branching constraints, each
of another job, that cannot all hold in a slot: at most |A| - 1 of them do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.solvers.columns import ColumnPool
from gadgetopt.solvers.highs import SMALLEST_COEFFICIENT
from gadgetopt.solvers.persistent import PersistentLp
from gadgetopt.solvers.scaling import cost_unit
from gadgetopt.system.result import Limits, Status

from ...instance import PdOrsInstance
from ...subproblems.kernel import (
    Plan,
    Use,
)
from .branching_constraints import BranchingConstraint
from .class_pricing import Classes


@dataclass(frozen=True, eq=False)
class Column:
    """A schedule of one job.

    Attributes
    ----------
    job : int
    completion : int
        Slot by which it is done, and for which it has its utility.
    utility : float
    uses : tuple of Use
        Its workers and mode in each of its slots, without the machines.
    """

    job: int
    completion: int
    utility: float
    uses: tuple[Use, ...]

    def use(self, slot: int) -> Use | None:
        """Return its use of a slot; None if it does not run there."""
        return next((use for use in self.uses if use.slot == slot), None)


class RestrictedMaster:
    """The linear program over the columns so far.

    Attributes
    ----------
    columns : list of Column
    price : array, shape (slots, classes, resources)
        Duals of the capacities, per unit, after a solve; at least 0.
    payoff : array, shape (jobs,)
        Duals of the choice rows.
    cuts : list of tuple of BranchingConstraint
    charges : array, shape (cuts,)
        Duals of the cuts, at least 0.
    """

    def __init__(self, instance: PdOrsInstance):
        self._instance = instance
        self.classes: Classes = Classes(instance.terms.jobs[0])
        capacity = self.classes.capacity * self.classes.count[:, None]
        self.shape: tuple[int, ...] = (instance.horizon_slots, *capacity.shape)
        self._capacity: Floats = np.broadcast_to(capacity, self.shape).astype(np.float64)
        self._jobs = len(instance.jobs)
        self._rows = int(np.prod(self.shape))
        most = sum(float(job.utility.max()) for job in instance.terms.jobs)
        unit = cost_unit(most)
        #: More than any decision is worth.
        self.penalty: float = unit + most
        self.lp: PersistentLp = PersistentLp("max", cost_unit=unit)
        rows = self._rows + self._jobs
        self.lp.add_rows(np.full(rows, -np.inf), np.ones(rows), np.zeros(rows), (), ())
        choice = np.arange(self._rows, rows)
        self.lp.add_columns(
            np.full(self._jobs, -self.penalty),
            np.zeros(self._jobs),
            np.zeros(self._jobs),
            np.arange(self._jobs),
            choice,
            np.ones(self._jobs),
        )
        self._pool: ColumnPool[Column] = ColumnPool(self.lp)
        self.cuts: list[tuple[BranchingConstraint, ...]] = []
        self.price: Floats = np.zeros(self.shape)
        self.payoff: Floats = np.zeros(self._jobs)
        self.charges: Floats = np.zeros(0)

    def add_cuts(self, cuts: Sequence[tuple[BranchingConstraint, ...]]) -> None:
        """Add rows for sets of constraints that cannot all hold."""
        starts: list[int] = []
        index: list[int] = []
        for cut in cuts:
            starts.append(len(index))
            met = [c for c, column in enumerate(self.columns) if _meets(column, cut)]
            index += [self._jobs + c for c in met]
        upper = np.array([len(cut) - 1 for cut in cuts], dtype=np.float64)
        ones = np.ones(len(index))
        self.lp.add_rows(np.full(len(cuts), -np.inf), upper, starts, index, ones)
        self.cuts += cuts

    @property
    def surcharges(self) -> dict[int, list[tuple[BranchingConstraint, float]]]:
        """Charges of each job for meeting constraints of cuts, after a solve."""
        out: dict[int, list[tuple[BranchingConstraint, float]]] = {}
        for cut, charge in zip(self.cuts, self.charges.tolist(), strict=True):
            if charge > 0:
                for constraint in cut:
                    out.setdefault(constraint.job, []).append((constraint, charge))
        return out

    @property
    def cut_worth(self) -> float:
        """The right sides of the cuts times their charges."""
        pairs = zip(self.cuts, self.charges.tolist(), strict=True)
        return sum(charge * (len(cut) - 1) for cut, charge in pairs)

    def add(self, plans: Sequence[tuple[Plan, int]]) -> int:
        """Add schedules and the slots they count as complete in; return how many are new."""
        for plan, completion in plans:
            i = plan.job.index
            taken = np.zeros(self.shape)
            usage = plan.usage
            np.add.at(taken, (usage.slots - 1, usage.machines), usage.amounts.astype(np.float64))
            where = np.flatnonzero(taken)
            share = taken.ravel()[where] / self._capacity.ravel()[where]
            kept = share > SMALLEST_COEFFICIENT  # of any solution such shares change nothing
            utility = float(plan.job.utility[completion])
            column = Column(i, completion, utility, plan.uses)
            first = self._rows + self._jobs
            met = [first + k for k, cut in enumerate(self.cuts) if _meets(column, cut)]
            # Choice rows bound them; bounds of their own would take a part of the duals.
            self._pool.add(
                (i, completion, plan.uses, taken.tobytes()),
                column,
                utility,
                [*where[kept].tolist(), self._rows + i, *met],
                [*share[kept].tolist(), 1.0, *[1.0] * len(met)],
            )
        return self._pool.enter()

    @property
    def columns(self) -> list[Column]:
        """The columns in the order in which they came."""
        return self._pool.payloads

    def solve(self, limits: Limits) -> Status:
        """Solve, and read prices and payoffs if that succeeds."""
        status = self.lp.solve(limits)
        if status is Status.OPTIMAL:
            duals = self.lp.row_duals
            per_unit = np.maximum(duals[: self._rows], 0.0).reshape(self.shape)
            some = self._capacity > 0
            self.price = np.divide(per_unit, self._capacity, out=np.zeros(self.shape), where=some)
            self.payoff = duals[self._rows : self._rows + self._jobs]
            self.charges = np.maximum(duals[self._rows + self._jobs :], 0.0)
        return status

    def choice(self, reserve: float, limits: Limits) -> list[Column]:
        """Return the columns of an integer solution that leaves a part of all capacities free.

        It is the best one found; the values of the last solve are lost.
        """
        rows = np.arange(self._rows)
        none = np.full(self._rows, -np.inf)
        self.lp.change_row_bounds(rows, none, np.full(self._rows, 1.0 - reserve))
        values = self.lp.solve_in_integers(limits)
        self.lp.change_row_bounds(rows, none, np.ones(self._rows))
        if values is None:
            return []
        return [self.columns[c] for c in np.flatnonzero(values[self._jobs :] > 0.5).tolist()]

    @property
    def shares(self) -> Floats:
        """Value of each column."""
        return self.lp.values[self._jobs :]

    def worth(self, price: Floats) -> float:
        """Return the cost of the capacity of all machines at prices by class."""
        return float((price * self._capacity).sum())

    def restrict(self, allowed: Sequence[bool], accepted: Sequence[bool]) -> None:
        """Allow some columns only, and demand that some jobs have one.

        Parameters
        ----------
        allowed : sequence of bool, shape (columns,)
        accepted : sequence of bool, shape (jobs,)
        """
        jobs = np.arange(self._jobs)
        must = np.asarray(accepted)
        one = np.ones(self._jobs)
        self.lp.change_row_bounds(self._rows + jobs, np.where(must, 1.0, -np.inf), one)
        self.lp.change_column_bounds(jobs, 0 * one, np.where(must, np.inf, 0.0))
        if self.columns:
            at = self._jobs + np.arange(len(self.columns))
            upper = np.where(np.asarray(allowed), np.inf, 0.0)
            self.lp.change_column_bounds(at, np.zeros(len(at)), upper)


def _meets(column: Column, cut: Sequence[BranchingConstraint]) -> bool:
    """Return True if a schedule meets its job's constraint; a cut has at most one of each job."""
    return any(
        constraint.job == column.job and constraint.met(column.use(constraint.slot))
        for constraint in cut
    )
