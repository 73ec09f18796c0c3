"""Bounds of integer columns that follow from single rows, and rounding, at a node of a tree proof.

Each such bound is a split whose other side is a leaf of one row, which needs no relaxation. What is
computed here is in doubles: where noise could matter, the leaf, made exact, says whether a bound
holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Form, Model
    from gadgetopt.proofs.tree_kernel import Row

#: Distance from an integer that is taken for noise, and by which a row must be passed.
#: Tuned: `benchmarks/constants.py`.
NOISE = 1e-6
#: Part of all that a row adds up by which it must be passed for no noise to matter: far more than
#: doubles lose. Tuned: `benchmarks/proofs.py`.
CERTAIN = 1e-9
#: Rounds at most, and entries of rows that the bounds found at a node may cite together.
#: Tuned: `benchmarks/constants.py`.
ROUNDS, MOST_CITED = 12, 200_000
#: The row of the objective among `Side.row`, and that of its reduced costs. By definition.
OBJECTIVE, PRICED = -1, -2


class Side(NamedTuple):
    """A side of a row: the dual 1 or -1 that stands for it. The objective has none."""

    row: int
    dual: float


class Tightening(NamedTuple):
    """A bound of a column that follows from one side of a row, beyond noise if it is certain."""

    column: int
    upper: bool
    value: int
    side: Side
    is_certain: bool


@dataclass
class Found:
    """Bounds in an order in which each follows from those before it, and maybe a conflict.

    Attributes
    ----------
    bounds : list of Tightening
    conflict : Side or None
        A side of a row that no point within the bounds meets.
    """

    bounds: list[Tightening] = field(default_factory=list)
    conflict: Side | None = None


class _Entries(NamedTuple):
    """Entries of integer columns.

    Attributes
    ----------
    places, columns, rows : ndarray of int
    uppers : ndarray of bool
        Whether an entry bounds its column from above, not from below.
    signs : ndarray of float
        1 where it does, else -1.
    inverses : ndarray of float
    bounds : ndarray of int
        Where the bound is that it may replace, in lower bounds followed by upper ones.
    """

    places: Ints
    columns: Ints
    rows: Ints
    uppers: Bools
    signs: Floats
    inverses: Floats
    bounds: Ints


@dataclass
class _Trail:
    """All bounds found, in order, with what is needed to tell which of them others rest on."""

    made: list[tuple[int, bool, int, int]] = field(default_factory=list)  # column ... `<=` row
    rounds: list[int] = field(default_factory=list)
    rounding: list[bool] = field(default_factory=list)
    certain: list[bool] = field(default_factory=list)
    before: list[int] = field(default_factory=list)
    last: dict[tuple[int, bool], int] = field(default_factory=dict)

    def add(self, made: tuple[int, bool, int, int], at: int, gained: bool, certain: bool) -> None:
        key = made[:2]
        self.before.append(self.last.get(key, -1))
        self.last[key] = len(self.made)
        self.made.append(made)
        self.rounds.append(at)
        self.rounding.append(gained)
        self.certain.append(certain)


class Propagation:
    """The rows of a model as `a.x <= b` in doubles, with the objective below its target.

    Parameters
    ----------
    model : Model
    rows : sequence of Row
        Those of the model and of lemmas.
    need : float
        What leaves must prove of `sum(costs * x)`.
    split_on : sequence of int
        Rows that get a lower side in the tree.
    priced : tuple, optional
        Columns, their reduced costs, and the most that these may add up to below the target.
    """

    def __init__(
        self,
        model: Model,
        rows: Sequence[Row],
        need: float,
        split_on: Sequence[int],
        priced: tuple[Sequence[int], Sequence[float], float] | None = None,
    ):
        self.integer: Bools = np.array(model.integer, dtype=bool)
        self.sides: list[Side] = []
        #: By side of a row, its place among the rows here.
        self.place: dict[Side, int] = {}
        self._columns: list[Sequence[int]] = []
        self._entries: list[Sequence[float]] = []
        self._units: list[float] = []
        ends: list[float] = []
        later = set(split_on)
        for i, (columns, coefficients, low, high, unit) in enumerate(rows):
            if high is not None:
                self._add(Side(i, -1.0), columns, coefficients, 1 / unit)
                ends.append(high / unit)
            if low is not None or i in later:
                self._add(Side(i, 1.0), columns, coefficients, -1 / unit)
                ends.append(np.inf if low is None else -low / unit)
        costs: Form = model.costs
        self._add(Side(OBJECTIVE, 0.0), *costs, 1.0)
        ends.append(need)
        if priced is not None:
            columns, reduced, most = priced
            self._add(Side(PRICED, 0.0), columns, reduced, 1.0)
            ends.append(most)
        self.ends: Floats = np.array(ends)
        sizes = [len(columns) for columns in self._columns]
        self.starts: Ints = np.cumsum([0, *sizes])
        self.columns: Ints = np.array(list(chain(*self._columns)), dtype=np.int64)
        entries = np.array(list(chain(*self._entries)), dtype=float)
        self.entries: Floats = entries * np.repeat(self._units, sizes)
        self.row_of: Ints = np.repeat(np.arange(len(sizes)), sizes)
        #: By row, by how much it must be passed for no noise to matter.
        self.noise: Floats = CERTAIN * self._sizes(model)
        count = len(self.integer)
        #: By entry, where the bound at which its term is least is, in lower bounds and upper ones.
        self.least_at: Ints = self.columns + np.where(self.entries > 0, 0, count)
        self.whole = self._whole(count)
        #: By row, what its terms must pass for it to be broken.
        self.limits: Floats = _limits(self.ends)
        #: Whether all columns have both bounds.
        self.is_finite = None not in model.lower and None not in model.upper

    def _sizes(self, model: Model) -> Floats:
        """Return by row the most that its terms and its side add up to, infinite if unknown."""
        ends = [
            math.inf if low is None or high is None else float(max(-low, high))
            for low, high in zip(model.lower, model.upper, strict=True)
        ]
        with np.errstate(invalid="ignore"):
            parts: Floats = np.abs(self.entries) * np.array(ends)[self.columns]
        sums: Floats = np.bincount(self.row_of, parts, len(self.ends)).astype(float, copy=False)
        return sums + np.abs(self.ends)

    def _whole(self, count: int) -> _Entries:
        """Return the entries of integer columns, of so many columns."""
        places = np.flatnonzero(self.integer[self.columns] & (self.entries != 0))
        columns, entries = self.columns[places], self.entries[places]
        uppers = entries > 0
        signs = np.where(uppers, 1.0, -1.0)
        bounds = columns + np.where(uppers, count, 0)
        rows = self.row_of[places]
        return _Entries(places, columns, rows, uppers, signs, 1 / entries, bounds)

    def _add(
        self, side: Side, columns: Sequence[int], coefficients: Sequence[float], unit: float
    ) -> None:
        self.place[side] = len(self.sides)
        self.sides.append(side)
        self._columns.append(columns)
        self._entries.append(coefficients)
        self._units.append(unit)

    def bound_row(self, i: int, low: float, high: float) -> None:
        """Change the sides of a row that is split on."""
        for side, end in ((Side(i, -1.0), high), (Side(i, 1.0), -low)):
            if side in self.place:
                self.ends[self.place[side]] = end
                self.limits[self.place[side]] = _limits(np.array(end))

    def run(self, low: Floats, high: Floats) -> Found:
        """Return what follows from bounds of the columns.

        Only bounds that rounding made, those on which these rest, or those on which a conflict
        rests: what follows without rounding, the relaxation knows.
        """
        bounds = np.concatenate([low, high])
        trail = _Trail()
        with np.errstate(invalid="ignore"):
            return self._run(bounds, trail)

    def _run(self, bounds: Floats, trail: _Trail) -> Found:
        columns = len(self.integer)
        for at in range(ROUNDS):
            rest, usable, broken = self._rests(bounds)
            if broken is not None:
                return self._needed(trail, broken, at)
            count = len(trail.made)
            self._tighten(trail, bounds, rest, usable, at)
            for column, upper, value, _ in trail.made[count:]:
                bounds[column + columns if upper else column] = value
            if len(trail.made) == count:
                break
        return self._needed(trail, None, ROUNDS)

    def _rests(self, bounds: Floats) -> tuple[Floats, Bools | None, int | None]:
        """Return what the others of the rows of entries of integer columns are at least.

        With it come the entries for which that is known, None for all, and a broken row.
        """
        part = self.entries * bounds[self.least_at]
        rows, places, of_row = len(self.ends), self.whole.places, self.whole.rows
        if self.is_finite:
            least = np.bincount(self.row_of, part, rows)
            over = least - self.limits
        else:
            endless = ~np.isfinite(part)
            part[endless] = 0.0
            least = np.bincount(self.row_of, part, rows)
            without = np.bincount(self.row_of, endless, rows)
            over = least - self.limits
            over[without > 0] = -np.inf
        worst = int(over.argmax())
        usable = None if self.is_finite else without[of_row] == endless[places]
        return least[of_row] - part[places], usable, worst if over[worst] > 0 else None

    def _tighten(
        self, trail: _Trail, bounds: Floats, rest: Floats, usable: Bools | None, at: int
    ) -> None:
        """Put the best new bound of each column on each side into the trail."""
        whole = self.whole
        limit = (self.ends[whole.rows] - rest) * whole.inverses
        # Lower bounds with their signs turned, so that all are upper ones.
        value = np.floor(limit * whole.signs + NOISE)
        gain = bounds[whole.bounds] * whole.signs - value
        is_new = (gain > 0.5) & np.isfinite(value)
        new = np.flatnonzero(is_new if usable is None else is_new & usable)
        if not len(new):
            return
        value *= whole.signs
        for upper in (False, True):
            self._add_best(trail, new[whole.uppers[new] == upper], (limit, value, gain), upper, at)

    def _add_best(
        self,
        trail: _Trail,
        new: Ints,
        of_entries: tuple[Floats, Floats, Floats],
        upper: bool,
        at: int,
    ) -> None:
        """Put the best of the new bounds of each column on one side into the trail."""
        if not len(new):
            return
        limit, value, gain = of_entries
        columns, rows, inverses = self.whole.columns, self.whole.rows, self.whole.inverses
        new = new[np.lexsort((-gain[new], columns[new]))]
        tightened = columns[new]
        is_first = np.concatenate([[True], tightened[1:] != tightened[:-1]])
        best = new[is_first]
        excess = np.abs((value[best] + (1 if upper else -1) - limit[best]) / inverses[best])
        certain = (excess > self.noise[rows[best]]).tolist()
        for k, is_certain in zip(best.tolist(), certain, strict=True):
            gained = abs(limit[k] - value[k]) > 10 * NOISE
            made = int(columns[k]), upper, int(value[k]), int(rows[k])
            trail.add(made, at, bool(gained), is_certain)

    def _needed(self, trail: _Trail, broken: int | None, at: int) -> Found:
        """Return the bounds that are worth a split."""
        needed = [False] * len(trail.made)
        done: set[tuple[int, int]] = set()
        cited = 0

        def cite(row: int, before: int) -> None:
            nonlocal cited
            cited += int(self.starts[row + 1] - self.starts[row])
            if (row, before) in done:
                return
            done.add((row, before))
            for e in range(self.starts[row], self.starts[row + 1]):
                t = trail.last.get((int(self.columns[e]), bool(self.entries[e] < 0)), -1)
                while t >= 0 and trail.rounds[t] >= before:
                    t = trail.before[t]
                if t >= 0:
                    needed[t] = True

        if broken is not None:
            cite(broken, at)
        else:
            for t in trail.last.values():
                needed[t] = trail.rounding[t]
        for t in reversed(range(len(needed))):
            if needed[t]:
                cite(trail.made[t][3], trail.rounds[t])
                if cited > MOST_CITED:
                    return Found()
        found = zip(trail.made, trail.certain, needed, strict=True)
        bounds = [
            Tightening(j, upper, v, self.sides[row], certain)
            for (j, upper, v, row), certain, is_needed in found
            if is_needed
        ]
        return Found(bounds, None if broken is None else self.sides[broken])


def _limits(ends: Floats) -> Floats:
    """Return what the terms of rows must pass for noise not to matter."""
    limits: Floats = ends + NOISE * np.maximum(1.0, np.abs(ends))
    return limits
