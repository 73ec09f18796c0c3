r"""The configuration program's linear relaxation, by column generation.

With :math:`z_{Pk}` servers of kind k that hold content P, the program is

.. math::
    \min\ & \sum_j W_j t^0_j + \sum_{P,k} c(P)\, z_{Pk}                          \tag{C1} \\
    & \sum_{P,k} P_j\, z_{Pk} = n_j                     \quad \forall j          \tag{C2} \\
    & \sum_P z_{Pk} \le |S_k|                           \quad \forall k          \tag{C3}

over the contents that fit, with the costs of `proving/terms.py`. At any prices :math:`\pi_j` of
tasks

.. math::
    \sum_j W_j t^0_j + \sum_j n_j \pi_j
    - \sum_k |S_k| \max\Bigl(0, \max_P \sum_j \pi_j P_j - c(P)\Bigr)              \tag{C4}

bounds it from below; at the duals of (C2) the two are equal. By the rows (C5) of `divisions.py` the
parts of a gang are whole; at their duals the price of :math:`P_j` tasks in a server is any
:math:`\pi_j(P_j)`, and :math:`n_j \pi_j` is the least that the parts of a gang pay together. The
program is the linear relaxation of F2 with its valid inequality, with (C5), and with :math:`\mu_j`
bounded by the share of tasks in contents without the whole gang, which is stronger. Racks play no
part: those that are alike, and others, are folded into one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.columns import ColumnPool
from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.result import Status

from ..content_search import (
    MOST_CONTENTS,
    Contents,
    ContentSearch,
)
from ..divisions import Divisions
from ..terms import Terms

#: Contents that enter the program at a time, and states of the search for them.
#: Tuned: `benchmarks/constants.py`.
NEW, BEAM = 150, 1500
#: States that exact pricing may keep at a time.
MOST_STATES = 3 * MOST_CELLS // 20
#: Relative tolerance of reduced costs, of the mean cost of a task.
#: Tuned: `benchmarks/constants.py`.
TOLERANCE = 1e-7
#: Distance from a whole number up to which a solver's value is one.
#: Tuned: `benchmarks/constants.py`.
WHOLE = 1e-6


@dataclass
class Relaxation:
    """The solved relaxation.

    Attributes
    ----------
    infeasible : bool
        True if not even fractions of contents hold all tasks.
    value : float
        Optimum of the program over the contents so far, in seconds; infinite if there is none.
    bound : float
        Proved by the prices, up to rounding.
    price : array, shape (lots, tasks + 1)
        Of so many tasks in a server.
    server_price : array, shape (kinds,)
        The largest worth of a content at these prices, at least 0.
    columns : list of (int, Contents)
        Kind and contents of the program.
    limit_hit : str or None
    last_price : array, shape (lots, tasks + 1)
        Prices of the last program, whether they are optimal or not.
    """

    infeasible: bool = False
    value: float = math.inf
    bound: float = 0.0
    price: Floats | None = None
    server_price: Floats | None = None
    columns: list[tuple[int, Contents]] | None = None
    limit_hit: str | None = None
    last_price: Floats | None = None


class ColumnGeneration:
    """The program while it grows.

    Parameters
    ----------
    terms : Terms
    clock : Clock
    """

    clock: Clock
    terms: Terms

    def __init__(self, terms: Terms, clock: Clock):
        self.terms, self.clock = terms, clock
        self.searches: list[ContentSearch] = [ContentSearch(terms, kind) for kind in terms.kinds]
        self.columns: list[tuple[int, Contents]] = []
        self.rounds: int = 0
        lots, kinds = len(terms.lots), len(terms.kinds)
        self.divisions: Divisions = Divisions(terms)
        self._cost = np.zeros(0)
        self._unit = max(1e-9, float(terms.base_s) / max(1, int(terms.tasks.sum())))
        self._lp = PersistentLp("min")
        self._lp.add_rows(
            [*terms.tasks, *[-INFINITY] * kinds, *self.divisions.lower],
            [*terms.tasks, *(kind.servers for kind in terms.kinds), *self.divisions.upper],
            [0] * (lots + kinds + len(self.divisions)),
            [],
            [],
        )
        # What is missing, in the first phase: tasks one by one.
        self.divisions.add_missing(self._lp, np.ones(lots), lots + kinds)
        # Kind, contents and the row there of every column.
        self._pool: ColumnPool[tuple[int, Contents, int]] = ColumnPool(self._lp)

    @property
    def number_of_contents(self) -> float:
        """Contents of all kinds, infinite if they are too many to enumerate."""
        every = [search.all for search in self.searches]
        return sum(math.inf if contents is None else len(contents) for contents in every)

    def whole_contents(self) -> list[tuple[int, list[tuple[int, int]]]] | None:
        """Return kind and content of every server, if the solution has no fractions."""
        values = self._pool.values
        times = np.round(values)
        if np.abs(values - times).max(initial=0.0) > WHOLE:
            return None
        servers = []
        for (kind, contents, r), share in self._pool.used(WHOLE):
            pairs = zip(contents.lot[r].tolist(), contents.tasks[r].tolist(), strict=True)
            servers += [(kind, [(i, n) for i, n in pairs if n])] * round(share)
        return servers

    def run(self) -> Relaxation:
        """Solve the relaxation to its optimum, or until time is up; Ctrl-C keeps its prices."""
        done = Relaxation(columns=self.columns)
        try:
            return self._priced(done, enumerated=self._add_all())
        except KeyboardInterrupt:
            done.limit_hit = "interrupted"
            return done

    def _priced(self, done: Relaxation, *, enumerated: bool) -> Relaxation:
        lots, first_part = len(self.terms.lots), len(self.terms.lots) + len(self.terms.kinds)
        # All contents at once need no first phase.
        for phase in (1.0,) if enumerated else (0.0, 1.0):
            if phase:
                self._lp.change_column_bounds(np.arange(lots), np.zeros(lots), np.zeros(lots))
                self._lp.change_costs(np.arange(lots), np.zeros(lots))
                at = np.arange(lots, self._lp.num_columns)
                self._lp.change_costs(at, self._cost / self._unit)
            while True:
                status = self._lp.solve(self.clock.limits())
                if enumerated and status is Status.INFEASIBLE:
                    done.infeasible = True
                    return done
                if status is not Status.OPTIMAL or (self.clock.expired and not enumerated):
                    done.limit_hit = self._lp.limit_hit or "time_s"
                    return done
                self.rounds += 1
                if phase == 0.0 and self._lp.objective <= TOLERANCE:
                    break
                unit = self._unit if phase else 1.0
                duals = self._lp.row_duals * unit
                price = self.divisions.prices(duals[:lots], duals[first_part:])
                server = -duals[lots:first_part]
                if enumerated:
                    return self._finished(done, price)
                if phase:
                    done.value = float(self.terms.base_s) + self._lp.objective * unit
                    # Any prices prove a bound, if the search for contents is not finished in time.
                    done.last_price = price
                if not self._price(price, server, phase, unit):
                    if phase:
                        return self._finished(done, price)
                    done.infeasible = self._lp.objective > TOLERANCE
                    return done
        raise AssertionError("unreachable")

    def _finished(self, done: Relaxation, price: Floats) -> Relaxation:
        """Return the relaxation at its final prices."""
        done.price = price
        done.value = float(self.terms.base_s) + self._lp.objective * self._unit
        done.server_price = np.array(
            [search.best(price, most=MOST_STATES) for search in self.searches]
        )
        servers = np.array([kind.servers for kind in self.terms.kinds])
        done.bound = (
            float(self.terms.base_s)
            + self.divisions.least(price)
            - float(servers @ done.server_price)
        )
        return done

    def _add_all(self) -> bool:
        """Add all contents if they are few; return True if they are."""
        every = [search.all for search in self.searches]
        few = [c for c in every if c is not None]
        if len(few) < len(every) or sum(map(len, few)) > MOST_CONTENTS:
            return False
        for k, contents in enumerate(few):
            self._add(k, contents, 0.0)
        return True

    def _price(self, price: Floats, server: Floats, phase: float, unit: float) -> bool:
        """Add contents worth more than their server; return False if there are none."""
        added = False
        for exact in (False, True):
            for k, search in enumerate(self.searches):
                least = max(0.0, server[k]) + TOLERANCE * unit
                found = search.above(
                    price, least, most=MOST_STATES, costs=phase, beam=None if exact else BEAM
                )
                if found is None:
                    raise ModelRefused(f"pricing needs more than {MOST_STATES} states")
                if len(found):
                    best = np.argsort(-found.worth, kind="stable")[:NEW]
                    added = self._add(k, found.of(best), phase) or added
            if added:
                return True
        return False

    def _add(self, kind: int, contents: Contents, phase: float) -> bool:
        """Add contents that are new; return True if any is."""
        if not len(contents):
            return False
        order = np.argsort(np.where(contents.tasks > 0, contents.lot, 2**31), axis=1)
        lot = np.take_along_axis(contents.lot, order, axis=1)
        tasks = np.take_along_axis(contents.tasks, order, axis=1)
        keys = [
            (kind, row[: 2 * n].tobytes())
            for row, n in zip(
                np.stack([lot, tasks], axis=2).reshape(len(lot), -1),
                (tasks > 0).sum(axis=1).tolist(),
                strict=True,
            )
        ]
        new = np.array([key not in self._pool for key in keys], dtype=np.bool_)
        if not new.any():
            return False
        contents = contents.of(new)
        self.columns.append((kind, contents))
        cost = content_costs(self.terms, contents)
        self._cost = np.concatenate([self._cost, cost])
        content, k = np.nonzero(contents.tasks)
        part_row, part_content, part = self.divisions.entries(contents)
        lots, kinds = len(self.terms.lots), len(self.terms.kinds)
        each = np.arange(len(cost))
        of_content = np.concatenate([content, each, part_content])
        order = np.argsort(of_content, kind="stable")
        ends = np.searchsorted(of_content[order], each, side="right").tolist()
        rows = np.concatenate(
            [contents.lot[content, k], np.full(len(cost), lots + kind), lots + kinds + part_row]
        )[order]
        values = np.concatenate([contents.tasks[content, k], np.ones(len(cost)), part])[order]
        paid = (cost / self._unit if phase else np.zeros(len(cost))).tolist()
        entered = [key for key, is_new in zip(keys, new.tolist(), strict=True) if is_new]
        for r, (key, first, end) in enumerate(zip(entered, [0, *ends], ends, strict=False)):
            self._pool.add(key, (kind, contents, r), paid[r], rows[first:end], values[first:end])
        self._pool.enter()
        return True


def content_costs(terms: Terms, contents: Contents) -> Floats:
    """Return c(P) of contents, shape (contents,)."""
    lot, tasks = contents.lot, contents.tasks
    part = np.where(terms.gang[lot], tasks / terms.tasks[lot], tasks)
    comm = np.where(tasks < terms.tasks[lot], terms.comm[lot], 0.0)
    costs: Floats = (part * (terms.job_s[lot] * contents.slowdown + comm)).sum(axis=1)
    return costs


def near_optimal(
    generation: ColumnGeneration, done: Relaxation, gap: float, most: int
) -> list[tuple[int, Contents]] | None:
    """Return all contents of reduced cost at most `gap`; None if the search meets over `most`."""
    assert done.price is not None
    assert done.server_price is not None
    kept = []
    number = 0
    for k, search in enumerate(generation.searches):
        found = search.above(done.price, float(done.server_price[k]) - gap, most=most)
        if found is None:
            return None
        number += len(found)
        if number > most:
            return None
        kept.append((k, found))
    return kept
