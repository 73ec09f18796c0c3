r"""Cuts of totals that the slots of all epochs cannot share out (reconstructed).

The epoch relaxation ignores bandwidth and the borders of servers. Let a pattern p be the ring sizes
:math:`\kappa_{pi}` of a slot. For totals :math:`k_i` of the relaxation the linear program

.. math::
    \max \; \textstyle\sum_i w_i c_i, \qquad
    c_i \le \sum_e \sum_p \kappa_{pi} x_{ep}, \quad 0 \le c_i \le k_i \quad \forall i, \qquad
    \sum_p x_{ep} \le n_e \quad \forall e, \qquad x \ge 0

says how far slots can cover them. Patterns are generated: with duals :math:`\lambda_i` of the
first rows a better one is a slot problem with gain :math:`\lambda_i` for each worker. With its
optimum, or a bound on it, :math:`h_e(\lambda)` every schedule has

.. math::
    \textstyle\sum_i \lambda_i z_{ie} \le n_e \, h_e(\lambda) \qquad \forall e,

a Benders cut, valid for any :math:`\lambda \ge 0`. Weights are rounded to whole numbers, so that
:math:`h_e` is one too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array, csr_array

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.tolerance import CLOSED_GAP
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.persistent import PersistentLp
from gadgetopt.solvers.standard_form import StandardForm
from gadgetopt.system.result import Limits, Status

from ..algorithms.slot_solver import SlotResult, solve_slot
from ..subproblems.epochs import EpochForm, Epochs
from ..subproblems.slot_problem import Mapping as RingMapping
from ..subproblems.slot_problem import SlotJob, SlotProblem
from ..terms import Terms

SlotOracle = Callable[[SlotProblem, Limits, np.random.Generator], SlotResult]

#: The largest weight of a cut.
LARGEST_WEIGHT = 1000
#: A pattern enters if it gains more than this beyond what its slot pays.
ENTERING = 1e-6
#: Totals short by less than this are covered.
COVERED = 1e-6


@dataclass(frozen=True)
class EpochCut:
    r"""Of every epoch, :math:`\sum_i \lambda_i z_{ie} \le` limit.

    Attributes
    ----------
    weight : array of int, shape (epochs, jobs)
        lambda; 0 for jobs that arrive later.
    limit : array of int, shape (epochs,)
        n_e h_e.
    """

    weight: Ints
    limit: Ints


@dataclass(frozen=True)
class Nogood:
    r"""Not all of these totals together: :math:`\sum_i [K_i \ge k_i] \le n - 1` over its n jobs.

    Attributes
    ----------
    least : dict of int to int
        k_i by job, positive.
    """

    least: Mapping[int, int]


def with_cuts(
    relaxation: EpochForm, cuts: Sequence[EpochCut], nogoods: Sequence[Nogood] = ()
) -> StandardForm:
    """Return the epoch relaxation with further rows, and columns that say who has a total.

    Increments of jobs in no-goods take whole numbers, so that their totals do.
    """
    grown = _Growing(relaxation)
    for cut in cuts:
        weight = cut.weight[relaxation.z_epoch, relaxation.z_job]
        for e, limit in enumerate(cut.limit.tolist()):
            touched = np.flatnonzero((relaxation.z_epoch == e) & (weight > 0))
            if len(touched):
                grown.row(touched, weight[touched].astype(float), float(limit))
    for nogood in nogoods:
        parts = [grown.has_total(i, k) for i, k in nogood.least.items()]
        columns = np.concatenate(parts)
        grown.row(columns, np.ones(len(columns)), len(nogood.least) - 1.0)
    return grown.form()


class _Growing:
    """The relaxation's arrays with new rows and binary columns."""

    def __init__(self, relaxation: EpochForm):
        self.relaxation = relaxation
        self.integer = relaxation.form.integer.copy()
        self.rows: list[tuple[Ints, Floats]] = []
        self.upper: list[float] = []
        self.binary: dict[tuple[int, int], int] = {}

    def row(self, columns: Ints, values: Floats, upper: float) -> None:
        self.rows.append((columns, values))
        self.upper.append(upper)

    def has_total(self, i: int, k: int) -> Ints:
        """Return the columns of whose values the sum is 1 if job i has k worker-slots."""
        x = self.relaxation
        begin = len(x.z_job)
        levels = np.flatnonzero(x.level_job == i)
        if len(levels) and k <= x.level[levels].max():
            return np.asarray(begin + levels[x.level[levels] >= k])
        if (i, k) not in self.binary:
            column = len(self.integer) + len(self.binary)
            self.binary[i, k] = column
            pieces = begin + len(x.level) + np.flatnonzero(x.piece_job == i)
            self.integer[pieces] = True
            most = float(x.form.col_upper[pieces].sum() + x.level[levels].max(initial=0))
            # K_i <= k - 1 + (most - k + 1) y
            self.row(
                np.r_[begin + levels, pieces, column],
                np.r_[x.level[levels], np.ones(len(pieces)), -(most - k + 1)],
                k - 1.0,
            )
        return np.array([self.binary[i, k]])

    def form(self) -> StandardForm:
        form, new = self.relaxation.form, len(self.binary)
        columns = len(form.columns) + new
        old = form.A.tocoo()
        lengths = [len(columns) for columns, _ in self.rows]
        begin = len(form.rows)
        row = np.r_[old.row, np.repeat(begin + np.arange(len(lengths)), lengths)]
        column = np.concatenate([old.col, *(c for c, _ in self.rows)])
        value = np.concatenate([old.data, *(v for _, v in self.rows)])
        matrix = csr_array(
            coo_array(
                (value, (row.astype(np.int64), column.astype(np.int64))),
                shape=(begin + len(lengths), columns),
            )
        )
        return replace(
            form,
            columns=list(range(columns)),
            col_lower=np.r_[form.col_lower, np.zeros(new)],
            col_upper=np.r_[form.col_upper, np.ones(new)],
            integer=np.r_[self.integer, np.ones(new, dtype=bool)],
            c=np.r_[form.c, np.zeros(new)],
            A=matrix,
            row_lower=np.r_[form.row_lower, np.full(len(lengths), -np.inf)],
            row_upper=np.r_[form.row_upper, self.upper],
            rows=list(range(matrix.shape[0])),
        )


class SlotPatterns:
    """The linear program above; patterns stay from one set of totals to the next.

    Parameters
    ----------
    terms : Terms
    epochs : Epochs
    largest : sequence of int
        The largest ring of each job.
    oracle : function
        Solves slot problems, or bounds their optima; rings of any quality will do. It is asked only
        where `bounded_slot` neither finds a better pattern nor proves that the cut holds.
    """

    def __init__(self, terms: Terms, epochs: Epochs, largest: Sequence[int], oracle: SlotOracle):
        self.terms = terms
        self.epochs = epochs
        self.largest = np.array(largest, dtype=np.int64)
        self.oracle = oracle
        self.jobs, self.count = len(terms.jobs), len(epochs.length)
        self.known: set[tuple[int, tuple[tuple[int, int], ...]]] = set()
        rows = self.jobs + self.count
        upper = np.r_[np.zeros(self.jobs), epochs.length.astype(float)]
        self.lp = PersistentLp("max")
        self.lp.add_rows(np.full(rows, -np.inf), upper, np.zeros(rows), (), ())
        every, zeros = np.arange(self.jobs), np.zeros(self.jobs)
        self.lp.add_columns(zeros, zeros, zeros, every, every, np.ones(self.jobs))

    def add_schedule(self, mappings: Sequence[Sequence[RingMapping]]) -> None:
        """Take the slots of a schedule as patterns."""
        for t, placed in enumerate(mappings, start=1):
            e = int(np.searchsorted(self.epochs.begin, t, side="right")) - 1
            if e >= 0:
                self.add(e, placed)

    def add(self, e: int, placed: Sequence[RingMapping]) -> bool:
        """Add a pattern to an epoch; say whether it is new."""
        sizes = tuple(sorted((mapping.job, mapping.size) for mapping in placed))
        if not sizes or (e, sizes) in self.known:
            return False
        self.known.add((e, sizes))
        rows = [*(i for i, _ in sizes), self.jobs + e]
        values = [*(-float(size) for _, size in sizes), 1.0]
        self.lp.add_columns([0.0], [0.0], [math.inf], [0], rows, values)
        return True

    def separate(
        self, totals: Ints, worth: Floats, limits: Limits, rng: np.random.Generator
    ) -> EpochCut | None:
        """Return a cut that the totals violate, None if none was found.

        Parameters
        ----------
        totals : array of int, shape (jobs,)
            k_i.
        worth : array, shape (jobs,)
            w_i, of a worker-slot of each job.
        limits : Limits
        rng : numpy.random.Generator
        """
        clock = Clock(limits)
        every = np.arange(self.jobs)
        self.lp.change_column_bounds(every, np.zeros(self.jobs), totals.astype(float))
        largest_worth = float(worth.max(initial=0.0))
        self.lp.change_costs(every, worth / largest_worth if largest_worth > 0 else worth)
        while True:
            if clock.expired or self.lp.solve(clock.limits()) is not Status.OPTIMAL:
                return None
            if (self.lp.values[: self.jobs] >= totals - COVERED).all():
                return None
            duals = np.maximum(0.0, self.lp.row_duals)
            largest = float(duals[: self.jobs].max(initial=0.0))
            if largest == 0:
                return None
            weight = np.floor(duals[: self.jobs] * (LARGEST_WEIGHT / largest)).astype(np.int64)
            pays = duals[self.jobs :] * (LARGEST_WEIGHT / largest)
            new = False
            for oracle in (bounded_slot, self.oracle):
                limit = np.zeros(self.count, dtype=np.int64)
                for e in range(self.count):
                    bound, placed, value = self._slot(oracle, e, weight, clock.limits(), rng)
                    limit[e] = int(self.epochs.length[e]) * bound
                    if value > pays[e] + ENTERING * LARGEST_WEIGHT:
                        new = self.add(e, placed) or new
                if int(weight @ totals) > int(limit.sum()):
                    return self._lifted(weight, limit, clock, rng)
                if new:
                    break
            if not new:
                return None

    def _slot(
        self,
        oracle: SlotOracle,
        e: int,
        weight: Ints,
        limits: Limits,
        rng: np.random.Generator,
    ) -> tuple[int, tuple[RingMapping, ...], float]:
        """Return a bound on the best pattern of an epoch, a good pattern and its value."""
        jobs = tuple(
            SlotJob(self.terms.jobs[i], weight[i] * np.arange(self.largest[i] + 1.0))
            for i in np.flatnonzero((weight > 0) & (self.largest > 0)).tolist()
            if self.epochs.first[i] <= e
        )
        if not jobs:
            return 0, (), 0.0
        found = oracle(SlotProblem(self.terms, int(self.epochs.begin[e]), jobs), limits, rng)
        # Patterns are worth whole numbers.
        bound = math.floor(found.bound + CLOSED_GAP * max(1.0, found.bound))
        return bound, found.mappings, found.value

    def _lifted(
        self, weight: Ints, limit: Ints, clock: Clock, rng: np.random.Generator
    ) -> EpochCut:
        """Let jobs without weight weigh as much as the lightest, in epochs that allow it."""
        lightest = int(weight[weight > 0].min())
        raised = np.where(weight > 0, weight, lightest)
        rows = np.zeros((self.count, self.jobs), dtype=np.int64)
        for e in range(self.count):
            present = self.epochs.first <= e
            bound, _, _ = self._slot(bounded_slot, e, raised, clock.limits(), rng)
            fits = int(self.epochs.length[e]) * bound <= limit[e]
            rows[e] = np.where(present, raised if fits else weight, 0)
        return EpochCut(rows, limit)


def bounded_slot(problem: SlotProblem, limits: Limits, rng: np.random.Generator) -> SlotResult:
    """Return good rings of a slot and the bound of the configuration program, without a search."""
    return solve_slot(problem, limits, rng, search=False)
