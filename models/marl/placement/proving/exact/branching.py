r"""Branch and price on what gangs cost, where too many contents are left to close at once.

The columns are all contents whose reduced cost at the root is within the gap: no other is in a
better placement. A node bounds the cost of gangs,

.. math::
    \tau_j(P) = W_j \bigl(t^0_j \sigma_j(P) + \beta_j [P_j < n_j]\bigr), \qquad
    F_j \le \max_P \tau_j(P) \le C_j:

contents in which gang j costs more than :math:`C_j` are left out, and the gang pays
:math:`s_j \ge F_j`, :math:`s_j \ge \sum_P \frac{P_j}{n_j} \tau_j(P) z_P` instead of the mean.
The linear program of a node holds the columns that it needed so far; the others are priced, all at
once, by a product of matrices. A node branches on the gang whose costs differ most between its
contents, at their mean. As soon as few contents are within the gap of a node, the closing program
over them decides it.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array

from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.result import Status

from ..content_search import Contents
from ..divisions import Divisions
from ..terms import Terms

#: Columns that enter a node's program at a time. Tuned: `benchmarks/constants.py`.
NEW = 200
#: Columns of a closing program that decides a node. Tuned: `benchmarks/constants.py`.
LEAF_COLUMNS = 500
#: Relative tolerance of bounds and reduced costs. Tuned: `benchmarks/constants.py`.
TOLERANCE = 1e-7

Columns = list[tuple[int, Contents]]


@dataclass(frozen=True)
class Node:
    """Bounds on the cost of each gang, in units, and on that of placements, in seconds."""

    bound: float
    least: Floats
    most: Floats


@dataclass(frozen=True)
class Solved:
    """A node's linear program: its bound, values of the columns in it, reduced costs of all."""

    bound: float
    value: Floats
    reduced: Floats
    allowed: Bools


class ContentPool:
    """All columns of a tree, and the linear program of its nodes.

    Parameters
    ----------
    terms : Terms
    contents : list of (int, Contents)
        Kind and contents.
    """

    contents: Columns
    terms: Terms
    gang: Ints
    tau: Floats

    def __init__(self, terms: Terms, contents: Columns):
        self.terms, self.contents = terms, contents
        self.gangs: Ints = np.flatnonzero(terms.gang)
        number = np.full(len(terms.lots), -1)
        number[self.gangs] = np.arange(len(self.gangs))
        # Costs are in units of the mean cost of a task, for the solver.
        self._unit = max(1e-9, float(terms.base_s) / max(1, int(terms.tasks.sum())))
        rows, columns, values, costs = [], [], [], []
        of_entry, tau_of_entry, column_of_entry = [], [], []
        first, lots, kinds = 0, len(terms.lots), len(terms.kinds)
        divisions = Divisions(terms)
        last = lots + kinds + len(self.gangs)
        for kind, some in contents:
            used = some.tasks > 0
            r, k = np.nonzero(used)
            lot, tasks = some.lot[r, k], some.tasks[r, k]
            gang = terms.gang[lot]
            tau = terms.job_s[lot] * some.slowdown[r, k]
            tau = tau + np.where(gang & (tasks < terms.tasks[lot]), terms.comm[lot], 0.0)
            tau = tau / self._unit
            cost = np.zeros(len(some))
            np.add.at(cost, r, np.where(gang, 0.0, tasks * tau))
            mine = np.arange(len(some))
            rows += [lot, np.full(len(some), lots + kind), lots + kinds + number[lot[gang]]]
            columns += [first + r, first + mine, first + r[gang]]
            share = tasks[gang] / terms.tasks[lot[gang]] * tau[gang]
            values += [tasks.astype(np.float64), np.ones(len(some)), share]
            part_row, part_content, part = divisions.entries(some)
            rows.append(last + part_row)
            columns.append(first + part_content)
            values.append(part)
            costs.append(cost)
            of_entry.append(number[lot[gang]])
            tau_of_entry.append(tau[gang])
            column_of_entry.append(first + r[gang])
            first += len(some)
        self.cost: Floats = np.concatenate(costs)
        self.gang, self.tau = np.concatenate(of_entry), np.concatenate(tau_of_entry)
        self.column: Ints = np.concatenate(column_of_entry)
        shape = (last + len(divisions), first)
        self.matrix: csc_array = csc_array(
            (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape
        )
        self.matrix.eliminate_zeros()
        self._lp = PersistentLp("min")
        self._lp.add_rows(
            [*terms.tasks, *[-INFINITY] * (last - lots), *divisions.lower],
            [
                *terms.tasks,
                *(kind.servers for kind in terms.kinds),
                *[0.0] * len(self.gangs),
                *divisions.upper,
            ],
            [0] * shape[0],
            [],
            [],
        )
        # Tasks that are not placed are dear, so that every node has a solution: still a bound.
        dear = 10.0 * (1.0 + float(self.tau.max(initial=0.0)) + float(self.cost.max(initial=0.0)))
        divisions.add_missing(self._lp, np.full(lots, dear), last)
        gangs = np.arange(len(self.gangs))
        self._pays = self._lp.add_columns(
            np.ones(len(gangs)),
            np.zeros(len(gangs)),
            np.full(len(gangs), INFINITY),
            gangs,
            lots + kinds + gangs,
            np.full(len(gangs), -1.0),
        )
        # No `ColumnPool`: all columns are known before, as one matrix, and a node may use some of
        # them. Those that entered are numbers of this matrix; what is not in is a mask over it.
        self._in: Ints = np.zeros(0, dtype=np.int64)
        self._is_in = np.zeros(first, dtype=np.bool_)
        #: Nodes whose program was solved.
        self.nodes: int = 0

    def root(self, bound: float) -> Node:
        """Return the node of all placements."""
        gangs = len(self.gangs)
        return Node(bound, np.zeros(gangs), np.full(gangs, math.inf))

    def solve(self, node: Node, clock: Clock) -> Solved | None:
        """Solve the linear program of a node; None if time is up."""
        self.nodes += 1
        allowed = np.ones(len(self.cost), dtype=np.bool_)
        allowed[self.column[self.tau > node.most[self.gang] * (1 + TOLERANCE)]] = False
        pays = np.array(self._pays)
        self._lp.change_column_bounds(pays, node.least, np.full(len(pays), INFINITY))
        base_s = float(self.terms.base_s)
        offset = self._pays.stop
        while True:
            if len(self._in):
                upper = np.where(allowed[self._in], INFINITY, 0.0)
                at = np.arange(offset, offset + len(self._in))
                self._lp.change_column_bounds(at, np.zeros(len(at)), upper)
            if self._lp.solve(clock.limits()) is not Status.OPTIMAL:
                if self._lp.limit_hit == "interrupted":
                    raise KeyboardInterrupt
                return None
            reduced = self.cost - self.matrix.T @ self._lp.row_duals
            wanted = np.flatnonzero(allowed & ~self._is_in & (reduced < -TOLERANCE))
            if not len(wanted):
                break
            if len(wanted) > NEW:
                wanted = wanted[np.argpartition(reduced[wanted], NEW)[:NEW]]
            self._add(wanted)
        value = np.zeros(len(self.cost))
        value[self._in] = self._lp.values[offset:]
        return Solved(base_s + self._lp.objective * self._unit, value, reduced, allowed)

    def _add(self, columns: Ints) -> None:
        part = self.matrix[:, columns]
        n = len(columns)
        self._lp.add_columns(
            self.cost[columns],
            np.zeros(n),
            np.full(n, INFINITY),
            part.indptr[:-1],
            part.indices,
            part.data,
        )
        self._in = np.concatenate([self._in, columns])
        self._is_in[columns] = True

    def near(self, solved: Solved, gap: float) -> Columns:
        """Return the contents within a gap, in seconds, of a node."""
        keep = solved.allowed & (solved.reduced <= gap / self._unit + TOLERANCE)
        parts, first = [], 0
        for kind, some in self.contents:
            mine = keep[first : first + len(some)]
            parts.append((kind, some.of(mine)))
            first += len(some)
        return parts

    def branch(self, node: Node, solved: Solved) -> list[Node]:
        """Return two nodes, or none if every gang has one cost in all its contents."""
        share = solved.value[self.column]
        used = share > 1e-6
        gangs = len(self.gangs)
        low, high = np.full(gangs, math.inf), np.zeros(gangs)
        np.minimum.at(low, self.gang[used], self.tau[used])
        np.maximum.at(high, self.gang[used], self.tau[used])
        low = np.maximum(low, node.least)
        weight, over = np.zeros(gangs), np.zeros(gangs)
        first = self.terms.tasks.shape[0] + len(self.terms.kinds)
        tasks = self.matrix[first : first + gangs, :]
        over = tasks @ solved.value
        mean = np.maximum(over, node.least)
        weight = np.where(np.isfinite(low), high - mean, 0.0)
        if not gangs or weight.max() <= TOLERANCE:
            return []
        g = int(np.argmax(weight))
        mine = self.tau[self.gang == g]
        below, above = (
            mine[mine <= mean[g] * (1 + TOLERANCE)],
            mine[mine > mean[g] * (1 + TOLERANCE)],
        )
        nodes = []
        if len(below):
            most = node.most.copy()
            most[g] = below.max()
            nodes.append(Node(solved.bound, node.least, most))
        least = node.least.copy()
        least[g] = above.min()
        nodes.append(Node(solved.bound, least, node.most))
        return nodes


def search_tree(
    pool: ContentPool,
    root_bound: float,
    clock: Clock,
    *,
    best: Callable[[], float],
    close: Callable[[Columns], float],
    prove: Callable[[float], None],
) -> bool:
    """Search the tree, best bound first; return True if it was searched to its end.

    Parameters
    ----------
    pool : ContentPool
    root_bound : float
    clock : Clock
    best : callable
        Cost of the best placement so far, in seconds.
    close : callable
        Solves the closing program over some contents, keeps its placement, and returns a lower
        bound on those placements.
    prove : callable
        Takes a lower bound on all placements.
    """
    numbers = itertools.count()
    undecided = math.inf
    open_ = [(root_bound, next(numbers), pool.root(root_bound))]
    while open_:
        bound, _, node = heapq.heappop(open_)
        prove(min(bound, undecided))
        if bound >= best() * (1 - 1e-9):
            return undecided >= best() * (1 - 1e-9)
        if clock.expired:
            return False
        solved = pool.solve(node, clock)
        if solved is None:
            return False
        if solved.bound >= best() * (1 - 1e-9):
            continue
        near = pool.near(solved, best() - solved.bound)
        children: Sequence[Node] = ()
        if sum(len(contents) for _, contents in near) > LEAF_COLUMNS:
            children = pool.branch(node, solved)
        if children:
            for child in children:
                heapq.heappush(open_, (solved.bound, next(numbers), child))
            continue
        closed = close(near)
        if closed < best() * (1 - 1e-9):
            undecided = min(undecided, max(closed, solved.bound))
    prove(min(undecided, best()))
    return undecided >= best() * (1 - 1e-9)
