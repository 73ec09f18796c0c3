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
    """Places of entries, their columns and rows, and their inverses."""

    places: Ints
    columns: Ints
    rows: Ints
    inverses: Floats


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
        whole = self.integer[self.columns]
        #: Entries that bound an integer column from below and from above.
        self.entries_of = [
            self._some(whole & (self.entries < 0)),
            self._some(whole & (self.entries > 0)),
        ]

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

    def _some(self, chosen: Bools) -> _Entries:
        places = np.flatnonzero(chosen)
        return _Entries(places, self.columns[places], self.row_of[places], 1 / self.entries[places])

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

    def run(self, low: Floats, high: Floats) -> Found:
        """Return what follows from bounds of the columns.

        Only bounds that rounding made, those on which these rest, or those on which a conflict
        rests: what follows without rounding, the relaxation knows.
        """
        low, high = low.copy(), high.copy()
        trail = _Trail()
        with np.errstate(invalid="ignore"):
            return self._run(low, high, trail)

    def _run(self, low: Floats, high: Floats, trail: _Trail) -> Found:
        for at in range(ROUNDS):
            rest, usable, broken = self._rests(low, high)
            if broken is not None:
                return self._needed(trail, broken, at)
            count = len(trail.made)
            for upper in (False, True):
                self._tighten(trail, (low, high), rest, usable, upper, at)
            for column, upper, value, _ in trail.made[count:]:
                (high if upper else low)[column] = value
            if len(trail.made) == count:
                break
        return self._needed(trail, None, ROUNDS)

    def _rests(self, low: Floats, high: Floats) -> tuple[Floats, Bools, int | None]:
        """Return by entry what the others of its row are at least, where known; a broken row."""
        at = np.where(self.entries > 0, low[self.columns], high[self.columns])
        part = self.entries * at
        endless = ~np.isfinite(part)
        part[endless] = 0.0
        rows = len(self.ends)
        least = np.bincount(self.row_of, part, rows)
        without = np.bincount(self.row_of, endless, rows)
        over = least - self.ends - NOISE * np.maximum(1.0, np.abs(self.ends))
        over[without > 0] = -np.inf
        worst = int(np.argmax(over))
        if over[worst] > 0:
            return part, endless, worst
        return least[self.row_of] - part, without[self.row_of] == endless, None

    def _tighten(
        self,
        trail: _Trail,
        bounds: tuple[Floats, Floats],
        rest: Floats,
        usable: Bools,
        upper: bool,
        at: int,
    ) -> None:
        """Put the best new bound of each column on one side into the trail."""
        places, columns, rows, inverses = self.entries_of[upper]
        limit = (self.ends[rows] - rest[places]) * inverses
        value = np.floor(limit + NOISE) if upper else np.ceil(limit - NOISE)
        gain = bounds[1][columns] - value if upper else value - bounds[0][columns]
        new = np.flatnonzero((gain > 0.5) & usable[places] & np.isfinite(value))
        if not len(new):
            return
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
