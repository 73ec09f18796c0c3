r"""The integer program over some contents: F2 with levels of slowdown instead of used contents.

Variables: :math:`z_{Pr} \in \mathbb{Z}_+`, servers of rack r (or of all racks, where racks are
folded) with content P; for every gang j and every slowdown :math:`\ell_1 < \ell_2 < \dots` that it
has in contents with a part of it, :math:`\lambda_{j0} = 1` if it lies on several servers and
:math:`\lambda_{jk} = 1` if its slowdown there is at least :math:`\ell_k` (:math:`\ell_0 = 0`).

.. math::
    \min\ & \sum_{P,r} c'(P)\, z_{Pr} + \sum_j W_j \Bigl(\beta_j \lambda_{j0}
        + t^0_j \sum_{k \ge 1} (\ell_k - \ell_{k-1}) \lambda_{jk}\Bigr)              \tag{L1} \\
    & \sum_{P,r} P_j\, z_{Pr} = n_j                      \quad \forall j             \tag{L2} \\
    & \sum_P z_{Pr} \le |S_r|                            \quad \forall r             \tag{L3} \\
    & \sum_{P: 0 < P_j < n_j} P_j z_{Pr} = n_j \lambda_{j0} \quad \forall j          \tag{L4} \\
    & \sum_{P: P_j < n_j,\, \sigma_j(P) \ge \ell_k} P_j z_{Pr} \le n_j \lambda_{jk}
        \quad \forall j, k                                                           \tag{L5} \\
    & \lambda_{jk} \le \lambda_{j,k-1}                                               \tag{L6}

with :math:`c'(P)` what single-task jobs and whole gangs pay in P, which is certain. With racks,
:math:`h_{jr} = 1` if r is the home of gang j and :math:`\chi_j = 1` if it leaves it:
:math:`\sum_r h_{jr} = 1` and

.. math::
    \sum_{P: 0 < P_j < n_j} P_j z_{Pr} \le n_j (h_{jr} + \chi_j) \quad \forall j, r, \tag{L7}

at :math:`W_j (\beta^{cross}_j - \beta^{rack}_j)` for :math:`\chi_j`. The parts of a gang are whole,
which the relaxation does not know: for every d

.. math::
    \sum_{P,r} \lceil P_j / d \rceil z_{Pr} \ge \lceil n_j / d \rceil, \qquad
    \sum_{P,r} \lfloor P_j / d \rfloor z_{Pr} \le \lfloor n_j / d \rfloor.          \tag{L8}
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.solvers.highs import solve_form
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.solvers.standard_form import StandardForm
from gadgetopt.system.result import Limits

from ..content_search import Contents
from ..divisions import Divisions
from ..terms import Terms

#: Digits to which slowdowns are compared. Tuned: `benchmarks/constants.py`.
DIGITS = 10


@dataclass(frozen=True)
class Place:
    """Servers that are alike to the program: of one kind, in one rack or in any.

    Attributes
    ----------
    kind : int
    rack : int or None
    servers : int
    """

    kind: int
    rack: int | None
    servers: int


def places_of(terms: Terms, *, folded: bool) -> list[Place]:
    """Return the servers by kind, `folded`, or by kind and rack."""
    if folded:
        return [Place(k, None, kind.servers) for k, kind in enumerate(terms.kinds)]
    numbers = {(kind.gpus, kind.cpus): k for k, kind in enumerate(terms.kinds)}
    return [
        Place(numbers[server.gpus, server.cpus], server.rack, len(members))
        for server, members in terms.instance.server_classes.items()
    ]


class ClosingProgram:
    """(L1)-(L8) over contents of each kind of servers.

    Parameters
    ----------
    terms : Terms
    contents : sequence of (int, Contents)
        Kind and contents, each once.
    folded : bool
        Leave racks out: a relaxation where they matter.
    """

    folded: bool
    terms: Terms

    def __init__(
        self, terms: Terms, contents: Sequence[tuple[int, Contents]], *, folded: bool
    ) -> None:
        self.terms, self.folded = terms, folded
        self.places: list[Place] = places_of(terms, folded=folded)
        self._row: list[Ints] = []
        self._column: list[Ints] = []
        self._value: list[Floats] = []
        self._lower: list[float] = []
        self._upper: list[float] = []
        self._cost: list[float] = []
        self._most: list[float] = []
        self._columns(contents)
        self._cover()
        self._divide(contents)
        self._levels()
        if not folded:
            self._homes()
        rows, columns = len(self._lower), len(self._cost)
        matrix = csr_array(
            (
                np.concatenate(self._value),
                (np.concatenate(self._row), np.concatenate(self._column)),
            ),
            shape=(rows, columns),
        )
        matrix.sum_duplicates()
        self.form: StandardForm = StandardForm(
            columns=[None] * columns,
            col_lower=np.zeros(columns),
            col_upper=np.array(self._most),
            integer=np.ones(columns, dtype=np.bool_),
            c=np.array(self._cost),
            offset=float(terms.base_s),
            sense="min",
            A=matrix,
            row_lower=np.array(self._lower),
            row_upper=np.array(self._upper),
            rows=[None] * rows,
            unused=[],
        )

    def solve(self, limits: Limits, seed: int = 0) -> SolverOutcome:
        """Solve it with HiGHS."""
        return solve_form(self.form, limits, seed)

    def chosen(self, values: Floats) -> list[tuple[Place, list[tuple[int, int]]]]:
        """Return place and content, pairs (lot, tasks), of every server in use."""
        used = np.round(values[: len(self._place)]).astype(np.int64)
        servers = []
        for c in np.flatnonzero(used).tolist():
            pairs = [
                (int(i), int(n)) for i, n in zip(self._lot[c], self._tasks[c], strict=True) if n
            ]
            servers += [(self.places[self._place[c]], pairs)] * int(used[c])
        return servers

    def _add(self, row: Ints, column: Ints, value: Floats) -> None:
        self._row.append(row)
        self._column.append(column)
        self._value.append(value)

    def _add_rows(self, number: int, lower: float, upper: float) -> Ints:
        first = len(self._lower)
        self._lower += [lower] * number
        self._upper += [upper] * number
        return np.arange(first, first + number)

    def _variables(self, costs: Sequence[float], most: Sequence[float]) -> Ints:
        first = len(self._cost)
        self._cost += costs
        self._most += most
        return np.arange(first, first + len(costs))

    def _columns(self, contents: Sequence[tuple[int, Contents]]) -> None:
        """(L1), (L3): a column for every content and place."""
        terms = self.terms
        width = max((c.lot.shape[1] for _, c in contents), default=0)
        lots, tasks, slowdowns, places = [], [], [], []
        for kind, some in contents:
            pad = ((0, 0), (0, width - some.lot.shape[1]))
            for p, place in enumerate(self.places):
                if place.kind == kind:
                    lots.append(np.pad(some.lot, pad))
                    tasks.append(np.pad(some.tasks, pad))
                    slowdowns.append(np.pad(some.slowdown, pad))
                    places.append(np.full(len(some), p))
        none = np.zeros((0, width), dtype=np.int64)
        self._lot = np.concatenate([none, *lots])
        self._tasks = np.concatenate([none, *tasks])
        self._slowdown = np.round(np.concatenate([none.astype(np.float64), *slowdowns]), DIGITS)
        self._place = np.concatenate([np.zeros(0, dtype=np.int64), *places])
        gang = terms.gang[self._lot]
        self._partial = gang & (self._tasks < terms.tasks[self._lot]) & (self._tasks > 0)
        jobs = np.where(gang, 1, self._tasks)
        pays = jobs * terms.job_s[self._lot] * self._slowdown
        cost = np.where(self._partial | (self._tasks == 0), 0.0, pays).sum(axis=1)
        most = np.full(len(cost), math.inf)
        for k in range(width):
            n = self._tasks[:, k]
            often = terms.tasks[self._lot[:, k]] // np.maximum(1, n)
            most = np.where(n > 0, np.minimum(most, often), most)
        servers = np.array([place.servers for place in self.places], dtype=np.float64)
        most = np.minimum(most, servers[self._place])
        columns = self._variables(cost.tolist(), most.tolist())
        rows = np.array([self._add_rows(1, -math.inf, n)[0] for n in servers.tolist()])
        self._add(rows[self._place], columns, np.ones(len(columns)))

    def _cover(self) -> None:
        """(L2): all tasks of every lot."""
        rows = np.array([self._add_rows(1, n, n)[0] for n in self.terms.tasks.tolist()])
        column, k = np.nonzero(self._tasks)
        if len(column):
            self._add(rows[self._lot[column, k]], column, self._tasks[column, k].astype(float))

    def _divide(self, contents: Sequence[tuple[int, Contents]]) -> None:
        """(L8): parts of gangs are whole."""
        divisions = Divisions(self.terms)
        rows = self._add_rows(len(divisions), 0.0, 0.0)
        first = len(self._lower) - len(divisions)
        self._lower[first:] = divisions.lower.tolist()
        self._upper[first:] = divisions.upper.tolist()
        column = 0
        for kind, some in contents:
            row, content, coefficient = divisions.entries(some)
            for place in self.places:
                if place.kind == kind:
                    self._add(rows[row], column + content, coefficient)
                    column += len(some)

    def _levels(self) -> None:
        """(L4)-(L6): gangs on several servers."""
        terms = self.terms
        self._spread: dict[int, int] = {}
        column, k = np.nonzero(self._partial)
        lot, slowdown = self._lot[column, k], self._slowdown[column, k]
        tasks = self._tasks[column, k].astype(float)
        for i in np.unique(lot).tolist():
            mine = lot == i
            levels = np.unique(np.append(slowdown[mine], 0.0))
            steps = np.diff(levels, prepend=0.0) * terms.job_s[i]
            steps[0] = terms.comm[i]
            level = self._variables(steps.tolist(), [1.0] * len(levels))
            self._spread[i] = int(level[0])
            n = float(terms.tasks[i])
            for b, at_least in enumerate(levels.tolist()):
                row = self._add_rows(1, 0.0 if b == 0 else -math.inf, 0.0)
                above = mine & (slowdown >= at_least)
                self._add(np.full(int(above.sum()), row[0]), column[above], tasks[above])
                self._add(row, level[b : b + 1], np.array([-n]))
                if b:
                    row = self._add_rows(1, -math.inf, 0.0)
                    self._add(row.repeat(2), level[[b, b - 1]], np.array([1.0, -1.0]))

    def _homes(self) -> None:
        """(L7): gangs that lie in several racks."""
        terms = self.terms
        racks = terms.instance.racks
        number = {rack: r for r, rack in enumerate(racks)}
        rack_of = np.array([number[place.rack or 0] for place in self.places])
        column, k = np.nonzero(self._partial)
        lot, tasks = self._lot[column, k], self._tasks[column, k].astype(float)
        for i in self._spread:
            job = terms.instance.jobs[terms.lots[i].jobs[0]]
            more_s = float(job.iterations * job.cross_comm_s - terms.comm_s[i])
            if more_s <= 0:
                continue
            home = self._variables([0.0] * len(racks), [1.0] * len(racks))
            away = self._variables([more_s], [1.0])
            one = self._add_rows(1, 1.0, 1.0)
            self._add(one.repeat(len(racks)), home, np.ones(len(racks)))
            mine = lot == i
            n = float(terms.tasks[i])
            for r in range(len(racks)):
                row = self._add_rows(1, -math.inf, 0.0)
                there = mine & (rack_of[self._place[column]] == r)
                self._add(np.full(int(there.sum()), row[0]), column[there], tasks[there])
                self._add(row.repeat(2), np.array([home[r], away[0]]), np.array([-n, -n]))
