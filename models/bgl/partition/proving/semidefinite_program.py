r"""The semidefinite program over which training nodes share a part, by alternating directions.

.. math::
    \max \langle W, X \rangle, \quad X \succeq 0,\ X \ge 0,\ \mathrm{diag}(X) = 1,\quad
    X 1 \le C_T,\quad \sum_{a, b \in A} X_{ab} \le s_A

with groups A of nodes that do not fit into a part, which are added where X violates them. The
dual's augmented Lagrangian is minimised in turn over the prices, the multipliers of the signs and
the slack matrix (Wen, Goldfarb and Yin, Math. Program. Comput. 2, 2010). Any prices bound the
program once the slack's least eigenvalue is made up for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints

from .certificate.same_part import most_together

#: Steps between two looks at bound and violated groups, and the factor of the penalty there.
#: Tuned: `benchmarks/constants.py`.
STEPS, PENALTY = 25, 1.4
#: Groups that are added at a time, and the violation, of what a group may have, from which on.
#: Tuned: `benchmarks/constants.py`.
NEW_GROUPS, VIOLATION = 20, 1e-3
#: A bound that rises by no more than this, over so many looks, of the largest value, is the last.
#: Tuned: `benchmarks/constants.py`.
RISE, PATIENCE = 1e-4, 6


@dataclass(frozen=True)
class Prices:
    """A solution of the dual, in the program's units.

    Attributes
    ----------
    diagonal, caps : array, shape (nodes,)
    groups : list of (array of int, float)
    apart : array, shape (nodes, nodes)
    value : float
        An upper bound on the program.
    """

    diagonal: Floats
    caps: Floats
    groups: list[tuple[Ints, float]]
    apart: Floats
    value: float


@dataclass
class _State:
    """The iterates: X and the slacks of inequalities, the dual's slack matrix, signs and prices."""

    x: Floats
    room: Floats
    slack: Floats
    apart: Floats
    paid: Floats
    penalty: float = 1.0
    groups: list[Ints] = field(default_factory=list)


class SamePartProgram:
    """The program over a matrix of weights.

    Parameters
    ----------
    weights : array, shape (nodes, nodes)
    cap : int
        Most nodes of a part.
    start : array, shape (nodes, nodes)
        X of a partition.
    """

    def __init__(self, weights: Floats, cap: int, start: Floats):
        self._size, self._cap = len(weights), cap
        self._scale = float(np.abs(weights).max(initial=0.0)) or 1.0
        self._cost: Floats = -weights / self._scale
        zero = np.zeros_like(self._cost)
        room = np.maximum(cap - start.sum(axis=1), 0.0) / self._norm_of_cap
        self._state = _State(start.copy(), room, zero, zero.copy(), np.zeros(self._size))

    @property
    def _norm_of_cap(self) -> float:
        return float(np.sqrt((self._size + 1) / 2))

    def solve(self, stopped: Callable[[], bool]) -> Prices:
        """Return the best prices found until the bound hardly rises, or time is up."""
        best, idle = self._prices(np.zeros(2 * self._size)), 0
        while idle < PATIENCE:
            prices = self._run(STEPS)
            found = self._prices(prices)
            better = best.value - found.value
            idle = 0 if better > RISE * abs(best.value) else idle + 1
            if better > 0:
                best = found
            if stopped():
                break
            if self._add_groups():
                idle = min(idle, PATIENCE - 2)
        return best

    def _run(self, steps: int) -> Floats:
        """Take steps and adapt the penalty; return the last prices."""
        s, n = self._state, self._size
        inverse = np.linalg.inv(self._gram())
        sides = np.concatenate(
            [np.ones(n), np.full(n, self._cap / self._norm_of_cap), self._most_of_groups()]
        )
        y = np.zeros(len(sides))
        for _ in range(steps):
            held = self._values(s.x)
            held[n:] += s.room
            dual = self._values(s.slack + s.apart - self._cost)
            dual[n:] += s.paid
            y = -inverse @ (s.penalty * (held - sides) + dual)
            rest = self._cost - self._sum(y) - s.penalty * s.x
            s.apart = np.maximum(rest - s.slack, 0.0)
            np.fill_diagonal(s.apart, 0.0)
            gap = -y[n:] - s.penalty * s.room
            s.paid = np.maximum(gap, 0.0)
            values, vectors = np.linalg.eigh(rest - s.apart)
            up = values > 0
            s.slack = (vectors[:, up] * values[up]) @ vectors[:, up].T
            s.x = (s.slack - (rest - s.apart)) / s.penalty
            s.room = (s.paid - gap) / s.penalty
        held = self._values(s.x)
        held[n:] += s.room
        primal = np.linalg.norm(held - sides) / np.linalg.norm(sides)
        left = self._cost - self._sum(y) - s.slack - s.apart
        dual_gap = np.linalg.norm(left) / (1 + np.linalg.norm(self._cost))
        if primal < dual_gap / 3:
            s.penalty *= PENALTY
        elif dual_gap < primal / 3:
            s.penalty /= PENALTY
        return y

    def _prices(self, y: Floats) -> Prices:
        """Return what prices prove, the diagonal raised until the slack is semidefinite."""
        n, scale = self._size, self._scale
        y = y.copy()
        y[n:] = np.minimum(y[n:], 0.0)
        lowest = float(np.linalg.eigvalsh(self._cost - self._sum(y) - self._state.apart)[0])
        diagonal = -(y[:n] + min(lowest, 0.0)) * scale
        caps = -y[n : 2 * n] / self._norm_of_cap * scale
        groups = [
            (nodes, float(-p / len(nodes) * scale))
            for nodes, p in zip(self._state.groups, y[2 * n :], strict=True)
            if p < 0
        ]
        value = float(diagonal.sum()) + self._cap * float(caps.sum())
        value += sum(p * most_together(len(nodes), self._cap) for nodes, p in groups)
        return Prices(diagonal, caps, groups, self._state.apart * scale, value)

    def _most_of_groups(self) -> Floats:
        groups = self._state.groups
        return np.array([most_together(len(a), self._cap) / len(a) for a in groups])

    def _indicators(self) -> Floats:
        made = np.zeros((len(self._state.groups), self._size))
        for row, nodes in zip(made, self._state.groups, strict=True):
            row[nodes] = 1.0
        return made

    def _values(self, x: Floats) -> Floats:
        """Return the left sides of all rows, each of norm 1."""
        groups = [x[np.ix_(a, a)].sum() / len(a) for a in self._state.groups]
        return np.concatenate([x.diagonal(), x.sum(axis=1) / self._norm_of_cap, groups])

    def _sum(self, y: Floats) -> Floats:
        """Return the sum of the rows' matrices at these prices."""
        n = self._size
        u = y[n : 2 * n] / (2 * self._norm_of_cap)
        made: Floats = np.diag(y[:n]) + u[:, None] + u[None, :]
        for nodes, p in zip(self._state.groups, y[2 * n :], strict=True):
            made[np.ix_(nodes, nodes)] += p / len(nodes)
        return made

    def _gram(self) -> Floats:
        """Return the products of the rows' matrices, with the slacks of the inequalities."""
        n, groups = self._size, self._indicators()
        counts = groups.sum(axis=1)
        norm = self._norm_of_cap
        one = np.eye(n)
        caps = (one * n / 2 + 0.5) / norm**2
        with_groups = groups / np.maximum(counts, 1.0)[:, None]
        both = (groups @ groups.T) ** 2 / np.maximum(np.outer(counts, counts), 1.0)
        top = np.hstack([one, one / norm, with_groups.T])
        middle = np.hstack([one / norm, caps + one, groups.T / norm])
        bottom = np.hstack([with_groups, groups / norm, both + np.eye(len(groups))])
        gram: Floats = np.vstack([top, middle, bottom])
        return gram

    def _add_groups(self) -> bool:
        """Add violated groups: the nodes that are nearest to one of them; True if there are any."""
        s, n = self._state, self._size
        found: dict[tuple[int, ...], float] = {}
        counts = np.arange(1, n + 1)
        most = np.array([most_together(int(c), self._cap) for c in counts])
        for a in range(n):
            near = np.argsort(-s.x[a], kind="stable")
            inside = s.x[np.ix_(near, near)]
            both = np.cumsum(np.cumsum(inside, axis=0), axis=1).diagonal()
            over = (both - most) / most
            over[: self._cap] = 0.0
            size = int(np.argmax(over))
            if over[size] > VIOLATION:
                found[tuple(sorted(near[: size + 1].tolist()))] = float(over[size])
        known = {tuple(nodes.tolist()) for nodes in s.groups}
        new = [nodes for nodes in sorted(found, key=lambda a: -found[a]) if nodes not in known]
        for nodes in new[:NEW_GROUPS]:
            s.groups.append(np.array(nodes, dtype=np.int64))
            s.room = np.append(s.room, 0.0)
            s.paid = np.append(s.paid, 0.0)
        return bool(new)
