r"""The aggregated model with rows that the search learns, solved by HiGHS.

Three kinds of rows are added to `aggregated`:

- :math:`\sum_i a_i (w^I + w^E)_{it} + b_i s_{it} \le l` in every slot (`Cut`, `machine_patterns`);
- a set of items that does not fit onto the machines is not run in any slot: with binaries
  :math:`\delta` for "at least n workers", :math:`\sum \delta \le |A| - 1` (`Item`, `slot_packing`);
- a set of jobs does not meet its deadlines: :math:`\sum_{i \in A} \sum_{t \le d_i} y_{it} \le
  |A| - 1`. As a later deadline asks for less, all earlier ones go with it.

The objective is the most utility or, with completion slots given, the lowest peak use of a slot
(smoothing), so that slots pack.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from gadgetopt.errors import SolverError
from gadgetopt.numbers.arrays import Floats
from gadgetopt.solvers import highs
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.solvers.standard_form import StandardForm, compile_model
from gadgetopt.system.result import Limits, Status

from ...formulations.aggregated import (
    build,
    completions,
    most_inside,
    useful_jobs,
)
from ...instance import (
    PdOrsInstance,
    PdOrsSolution,
)
from ...terms import JobTerms
from .machine_patterns import (
    SERVER,
    WORKER,
    Cut,
)
from .slot_packing import Item

#: Completion slot of every accepted job.
Deadlines = Mapping[int, int]

#: What a row is: coefficients by column, lower and upper limit.
#: Below this use of the fullest slot there is nothing to gain from a lower one.
#: Tuned: `benchmarks/constants.py`.
LOW_PEAK = 0.85
#: A peak may be above 1, as it is relative to the capacity without the reserve.
#: Tuned: `benchmarks/constants.py`.
HIGHEST_PEAK = 2.0

#: Kinds of variables that are integer: of these names only, the others may be fractions.
COMPLETIONS = ("y",)
MODES = ("y", "z", "q")
COUNTS = ("y", "z", "q", "wI", "wE", "s")


Row = tuple[dict[int, float], float, float]


class AggregatedMip:
    """The aggregated model of an instance and the rows learnt so far.

    Raises
    ------
    ModelRefused
        If no job can complete while it is worth something.
    """

    def __init__(self, instance: PdOrsInstance):
        self.instance = instance
        self.jobs: dict[int, JobTerms] = {job.index: job for job in useful_jobs(instance)}
        self.completions: dict[int, tuple[int, ...]] = {
            i: completions(job) for i, job in self.jobs.items()
        }
        model = build(instance)
        self.form: StandardForm = compile_model(model)
        number = {id(v): j for j, v in enumerate(self.form.columns)}
        self._columns: dict[str, dict[tuple[int, int], int]] = {
            name: {k: number[id(v)] for k, v in getattr(model, name).items() if id(v) in number}
            for name in COUNTS
        }
        row = {id(c): j for j, c in enumerate(self.form.rows)}
        self._slot_of_row = {
            row[id(c)]: t for (t, _), c in model.capacity_of_slot.items() if id(c) in row
        }
        self.slots: set[int] = {t for _, t in self._columns["q"]}
        #: Cuts on workers and servers hold in all slots at once; those on blocks, and conflicts,
        #: need binaries and wait until a schedule violates them in a slot.
        self.cuts: list[Cut] = []
        self.block_cuts: dict[Cut, set[int]] = {}
        self.conflicts: dict[tuple[Item, ...], set[int]] = {}
        self.no_goods: list[dict[int, int]] = []
        #: Part of a slot's capacity that smoothing tries to leave free, by slot.
        self.reserve: dict[int, float] = {}

    def most_utility(
        self,
        whole: Sequence[str],
        limits: Limits,
        seed: int,
        at_least: float | None = None,
        reserve: float = 0.0,
        start: Deadlines | None = None,
    ) -> SolverOutcome:
        """Maximise the utility with only some kinds of variables integer: a relaxation.

        With a reserve in every slot it is no relaxation, but its solutions are easier to pack.
        """
        rows = self._learnt()
        rows += [(self.no_good(deadlines), -np.inf, len(deadlines) - 1.0)
                 for deadlines in self.no_goods]  # fmt: skip
        if at_least is not None:
            c = {j: self.form.c[j] for j in np.flatnonzero(self.form.c).tolist()}
            rows.append((c, at_least, np.inf))
        form = self._with(rows, whole)
        if reserve:
            upper = form.row_upper.copy()
            upper[list(self._slot_of_row)] *= 1.0 - reserve
            form = replace(form, row_upper=upper)
        known = None
        if start is not None:
            known = np.full(len(form.columns), np.nan)
            for (i, t), j in self._columns["y"].items():
                known[j] = float(start.get(i) == t)
        return self._solve(form, limits, seed, known)

    def lowest_peak(
        self,
        deadlines: Deadlines,
        whole: Sequence[str],
        limits: Limits,
        seed: int,
        modes: Floats | None = None,
        smooth: bool = True,
    ) -> SolverOutcome:
        """Complete these jobs by these slots with the lowest peak, or at all.

        Parameters
        ----------
        deadlines : dict of job to slot
            Other jobs are rejected.
        whole : sequence of str
            Kinds of variables that are integer.
        limits : Limits
        seed : int
        modes : array, optional
            Values of a solution whose z and q are kept.
        smooth : bool
            True to minimise the peak; otherwise any solution will do.
        """
        learnt = self._learnt()
        form = self._with(learnt, whole)
        lower, upper = form.col_lower.copy(), form.col_upper.copy()
        for (i, t), j in self._columns["y"].items():
            lower[j] = upper[j] = float(deadlines.get(i) == t)
        if modes is not None:
            for name in ("z", "q"):
                for j in self._columns[name].values():
                    lower[j] = upper[j] = round(modes[j])
        form = replace(form, col_lower=lower, col_upper=upper, sense="min", c=np.zeros(len(lower)))
        if smooth:
            # Rows with binaries are met exactly or not at all, so there is nothing to smooth.
            first, old = len(self.form.rows), len(self.form.columns)
            cuts = [first + k for k, (row, _, _) in enumerate(learnt) if max(row) < old]
            form = self._with_peak(form, [*self._slot_of_row, *cuts])
        return self._solve(form, limits, seed)

    def learn(self, t: int, cut: Cut | None, conflict: tuple[Item, ...] | None) -> None:
        """Add the cut or conflict of a slot."""
        if cut is not None and cut.has_blocks:
            self.block_cuts.setdefault(cut, set()).add(t)
        elif cut is not None and cut not in self.cuts:
            self.cuts.append(cut)
        if conflict is not None:
            self.conflicts.setdefault(conflict, set()).add(t)

    def speaks_against(self, t: int, items: tuple[Item, ...]) -> bool:
        """Return True if a known row rules the items out; that row is then active in this slot."""
        terms = self.instance.terms
        found = False
        for cut, slots in self.block_cuts.items():
            if t not in slots and cut.is_violated(terms, items):
                slots.add(t)
                found = True
        for conflict, slots in self.conflicts.items():
            if t not in slots and all(any(x.covers(item) for x in items) for item in conflict):
                slots.add(t)
                found = True
        return found

    @property
    def learnt(self) -> int:
        """Number of cuts and conflicts, and of slots in which they are active."""
        seen = [*self.block_cuts.values(), *self.conflicts.values()]
        return len(self.cuts) + sum(map(len, seen))

    def deadlines(self, values: Floats) -> dict[int, int]:
        """Read the completion slots, y."""
        return {i: t for (i, t), j in self._columns["y"].items() if values[j] > 0.5}

    def deadlines_of(self, decision: PdOrsSolution) -> dict[int, int]:
        """Return the completion slots told apart that a decision meets."""
        found = {}
        for i, completion in completion_slots(decision).items():
            later = [t for t in self.completions.get(i, ()) if t >= completion]
            if later:
                found[i] = later[0]
        return found

    def utility(self, deadlines: Deadlines) -> float:
        """Return the utility of completing these jobs in these slots."""
        return sum(float(self.jobs[i].utility[t]) for i, t in deadlines.items())

    def items(self, values: Floats) -> dict[int, tuple[Item, ...]]:
        """Read the items of every slot, workers rounded up."""
        running: dict[int, list[Item]] = {}
        for name, inside in (("wI", True), ("wE", False)):
            for (i, t), j in self._columns[name].items():
                workers = int(np.ceil(values[j] - 1e-6))
                if workers:
                    running.setdefault(t, []).append(Item(i, inside, workers))
        return {t: tuple(sorted(running[t])) for t in sorted(running)}

    def no_good(self, deadlines: Deadlines) -> dict[int, float]:
        """Return the columns of these and all earlier completion slots of the jobs."""
        return {j: 1.0 for (i, t), j in self._columns["y"].items() if t <= deadlines.get(i, 0)}

    def _learnt(self) -> list[Row]:
        """Rows of cuts and conflicts; columns past those of the form are new binaries."""
        deltas: dict[tuple[int, Item], int] = {}
        rows: list[Row] = []
        active = [(cut, self.slots) for cut in self.cuts] + list(self.block_cuts.items())
        for cut, slots in active:
            for t in sorted(slots):
                row = self._cut_row(t, cut, deltas)
                if row:
                    rows.append((row, -np.inf, float(cut.limit)))
        for conflict, slots in self.conflicts.items():
            for t in sorted(slots):
                row = {self._delta(t, item, deltas): 1.0 for item in conflict}
                rows.append((row, -np.inf, len(conflict) - 1.0))
        for (t, item), delta in deltas.items():
            rows.append((self._at_least(t, item, delta), -np.inf, item.workers - 1.0))
        return rows

    def _cut_row(self, t: int, cut: Cut, deltas: dict[tuple[int, Item], int]) -> dict[int, float]:
        row: dict[int, float] = {}
        for (i, kind), weight in cut.weights:
            if (i, t) not in self._columns["q"]:
                continue
            if kind == SERVER:
                row[self._columns["s"][i, t]] = float(weight)
            elif kind == WORKER:
                for name in ("wI", "wE"):
                    if (i, t) in self._columns[name]:
                        row[self._columns[name][i, t]] = float(weight)
            else:
                row[self._delta(t, Item(i, True, kind), deltas)] = float(weight)
        return row

    def _delta(self, t: int, item: Item, deltas: dict[tuple[int, Item], int]) -> int:
        return deltas.setdefault((t, item), len(self.form.columns) + len(deltas))

    def _at_least(self, t: int, item: Item, delta: int) -> dict[int, float]:
        """Left side of "n workers or more only if delta": w - (most - n + 1) delta <= n - 1."""
        job, at = self.jobs[item.job], (item.job, t)
        row = {self._columns["wI"][at]: 1.0}
        most = most_inside(job)
        if not item.inside:
            row[self._columns["wE"][at]] = 1.0
            most = max(most, job.most_external)
        row[delta] = -float(most - item.workers + 1)
        return row

    def _with(self, rows: Sequence[Row], whole: Sequence[str]) -> StandardForm:
        """Return the form with more rows, and binaries for columns that it does not have yet."""
        old = len(self.form.columns)
        last = max((max(row) for row, _, _ in rows if row), default=0)
        new = max(0, last + 1 - old)
        integer = np.zeros(old + new, dtype=np.bool_)
        for name in whole:
            integer[list(self._columns[name].values())] = True
        integer[old:] = "z" in whole
        A = self.form.A
        A = csr_array((A.data, A.indices, A.indptr), shape=(A.shape[0], old + new))
        if rows:
            A = csr_array(vstack([A, _matrix([row for row, _, _ in rows], old + new)], "csr"))
        return replace(
            self.form,
            columns=[*self.form.columns, *[None] * new],
            c=np.append(self.form.c, np.zeros(new)),
            col_lower=np.append(self.form.col_lower, np.zeros(new)),
            col_upper=np.append(self.form.col_upper, np.ones(new)),
            integer=integer,
            A=A,
            row_lower=np.append(self.form.row_lower, [low for _, low, _ in rows]),
            row_upper=np.append(self.form.row_upper, [high for _, _, high in rows]),
            rows=[*self.form.rows, *[None] * len(rows)],
        )

    def _with_peak(self, form: StandardForm, peaks: Sequence[int]) -> StandardForm:
        """Return the form with the peak over these rows as last column and objective."""
        old = len(form.columns)
        limits = form.row_upper[peaks] * [1.0 - self._reserve_of(row) for row in peaks]
        A = csr_array((form.A.data, form.A.indices, form.A.indptr), (len(form.rows), old + 1))
        used = csr_array(hstack([form.A[peaks], csr_array(-limits[:, None])], "csr"))
        return replace(
            form,
            columns=[*form.columns, None],
            c=np.append(np.zeros(old), 1.0),
            col_lower=np.append(form.col_lower, LOW_PEAK),
            col_upper=np.append(form.col_upper, HIGHEST_PEAK),
            integer=np.append(form.integer, False),
            A=csr_array(vstack([A, used], "csr")),
            row_lower=np.append(form.row_lower, np.full(len(peaks), -np.inf)),
            row_upper=np.append(form.row_upper, np.zeros(len(peaks))),
            rows=[*form.rows, *[None] * len(peaks)],
        )

    def _reserve_of(self, row: int) -> float:
        return self.reserve.get(self._slot_of_row.get(row, 0), 0.0)

    def _solve(
        self, form: StandardForm, limits: Limits, seed: int, start: Floats | None = None
    ) -> SolverOutcome:
        outcome = highs.solve_form(form, limits, seed, start)
        if outcome.status is Status.ERROR:
            raise SolverError(str(outcome.reason))
        return outcome


def _matrix(rows: Iterable[Mapping[int, float]], columns: int) -> csr_array:
    data: list[float] = []
    indices: list[int] = []
    starts = [0]
    for row in rows:
        indices += row.keys()
        data += row.values()
        starts.append(len(indices))
    shape = (len(starts) - 1, columns)
    return csr_array((np.array(data), np.array(indices, dtype=np.int32), starts), shape=shape)


def utility_of(instance: PdOrsInstance, decision: PdOrsSolution) -> float:
    """Return the utility of the completion slots of a decision."""
    jobs = instance.terms.jobs
    return sum(float(jobs[i].utility[t]) for i, t in completion_slots(decision).items())


def completion_slots(decision: PdOrsSolution) -> dict[int, int]:
    """Return the last slot with a worker of every accepted job."""
    return {
        i: max(p.slot for p in schedule if any(x.workers for x in p.placements))
        for i, schedule in enumerate(decision.schedules)
        if schedule
    }
