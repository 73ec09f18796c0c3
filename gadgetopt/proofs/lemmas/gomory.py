"""Gomory's mixed-integer cuts of the root, each a lemma of a tree proof: a split and two leaves.

A row of the simplex tableau writes a basic integer column as `x = b - sum h_k t_k`, with t_k >= 0
the distances of nonbasic columns and rows from the bounds at which they are. Moving integers from
integer columns and rows to the left gives an integer form p with `p.x = v + f - sum g_k t_k` and
0 < f < 1. On the side p.x <= v, `sum (g_k / f) t_k >= 1`; on the side p.x >= v + 1,
`sum (-g_k / (1 - f)) t_k >= 1`. Hence `sum max(g_k / f, -g_k / (1 - f)) t_k >= 1` on both, and the
differences of the coefficients are the duals of the two leaves (Gomory 1960; as a split cut: Cook,
Kannan and Schrijver 1990). All of this is in doubles: the leaves, made exact, say what is proved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array, hstack

from gadgetopt.numbers.arrays import Floats
from gadgetopt.proofs.lemmas.splits import Lemma, Split, deepest_lemma, without_unused
from gadgetopt.proofs.relaxation import Relaxation, Tableau
from gadgetopt.proofs.tree_kernel import Box, Row

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Model

#: Rounds, basic columns tried in each, and lemmas of each, at most.
#: Tuned: `benchmarks/constants.py`.
ROUNDS, TRIED, A_ROUND = 50, 200, 50
#: No more after so many rounds that closed less than this part of the gap together.
#: Tuned: `benchmarks/constants.py`.
PATIENCE, GAIN = 5, 0.02
#: The same of rounds that closed nothing. Tuned: `benchmarks/constants.py`.
STALLED, NOTHING = 4, 1e-6
#: The same of rounds that show whether cuts are of use, the bounds that are enough for it, and the
#: part of the gap. Tuned: `benchmarks/proofs.py`.
SOON_STALLED, PROBES, FAST = 2, 5, 0.65
#: Rounds that closed at least this part of the gap together are worth going on with at once.
#: Tuned: `benchmarks/constants.py`.
LATELY, GAINING = 3, 0.05
#: Part of the gap that other lemmas are to close in a round to be alone in the next.
#: Tuned: `benchmarks/constants.py`.
SLOW = 0.05
#: Lemmas that close less than this part of the gap are not used. Tuned: `benchmarks/constants.py`.
WORTH = 0.1
#: Distance of a basic column from integers that is worth a cut. Tuned: `benchmarks/constants.py`.
FRACTIONAL = 0.01
#: Entries below which a cut's share of it is noise, and depth from which it is worth a lemma.
#: Tuned: `benchmarks/constants.py`.
NOISE, DEEP = 1e-9, 1e-4
#: Part of a model's columns, and number of columns, that a cut may have; the larger counts.
#: Tuned: `benchmarks/constants.py`.
DENSE_PART, DENSE = 0.3, 100


#: A cut, after its depth at the optimum that it cuts off.
Deep = tuple[float, Split]
#: See `Rounds`.
OtherLemmas = Callable[[Floats, Sequence[Row]], list[Lemma]]


OfRow = Callable[["Cuts", Tableau, Floats, Floats], Deep | None]


class Cuts:
    """Makes lemmas from the optimal basis of a relaxation.

    Parameters
    ----------
    model : Model
    rows : sequence of Row
        Rows of the model and the lemmas so far, as the relaxation has them.
    """

    def __init__(self, model: Model, rows: Sequence[Row]):
        self.model = model
        self.box = Box(model, [])
        self.integer = np.array(model.integer, dtype=bool)
        bounds = zip(model.lower, model.upper, strict=True)
        self.fixed = np.array([low is not None and low == high for low, high in bounds], dtype=bool)
        self.whole_rows = np.zeros(0, dtype=bool)
        self.widest = max(DENSE, int(DENSE_PART * len(model.integer)))
        self._by_column = csr_array((len(model.integer), 0))
        self.add(rows)

    def add(self, rows: Sequence[Row]) -> None:
        """Take more rows, those of later lemmas."""
        if not rows:
            return
        self.box.rows += rows
        fixed = [row[2] is not None and row[2] == row[3] for row in rows]
        self.fixed = np.concatenate([self.fixed, np.array(fixed, dtype=bool)])
        whole = [_is_whole(self.model, row) for row in rows]
        self.whole_rows = np.concatenate([self.whole_rows, np.array(whole, dtype=bool)])
        more = _matrix(rows, len(self.integer)).T
        known = self._by_column
        self._by_column = csr_array(hstack([known, more], format="csr") if known.shape[1] else more)

    @property
    def entries(self) -> int:
        """The number of entries of the rows."""
        return int(self._by_column.nnz)

    def along(self, multipliers: Floats) -> Floats:
        """Return the sum of the rows times multipliers, by column."""
        summed: Floats = self._by_column @ multipliers
        return summed

    def cut(self, tableau: Tableau, j: int, multipliers: Floats, along: Floats) -> Deep | None:
        """Return the cut of a basic integer column; None if nothing comes of it.

        Parameters
        ----------
        j : int
        multipliers : ndarray of float, shape (rows,)
            The row of the inverse of the basis that belongs to the column.
        along : ndarray of float, shape (columns,)
            The sum of the rows times the multipliers.
        """
        x, at_columns, at_rows = tableau.x, tableau.columns, tableau.rows
        f = x[j] - np.floor(x[j])
        h = np.concatenate([along * at_columns, -multipliers * at_rows])
        h[np.abs(h) < NOISE] = 0.0
        free = np.concatenate([tableau.free, np.zeros(len(at_rows), dtype=bool)])
        if h[free].any():
            return None
        g = h.copy()
        whole = np.concatenate([self.integer, self.whole_rows]) & ~self.fixed
        share = h[whole] - np.floor(h[whole] + NOISE)
        g[whole] = np.where(share <= f, share, share - 1)
        moved = np.round(h - g) * np.concatenate([at_columns, at_rows])
        c = np.where(self.fixed, 0.0, np.maximum(g / f, -g / (1 - f)))

        n = len(x)
        alpha = c[:n] * at_columns + self.along(c[n:] * at_rows)
        used = np.abs(alpha) > NOISE * np.abs(alpha).max(initial=0.0)
        if not used.any() or used.sum() > self.widest:
            return None
        split = np.round(moved[:n] + self.along(moved[n:]))
        split[j] += 1
        left = _sparse(at_rows * (c[n:] - g[n:] / f)), -1 / f
        right = _sparse(at_rows * (c[n:] + g[n:] / (1 - f))), 1 / (1 - f)
        form = {i: int(a) for i, a in _sparse(split).items()}
        value = round(float(split @ x) - f)
        cut = Split(_sparse(np.where(used, alpha, 0.0)), form, value, left, right)
        return 1 / float(np.linalg.norm(alpha)), cut  # at the vertex, all distances are 0

    def proved(self, found: Deep, x: Floats) -> tuple[float, Lemma] | None:
        """Return the lemma of a cut and its depth; None if it is not deep."""
        made = deepest_lemma(self.model, self.box, found[1], x, found[0])
        return made if made is not None and made[0] > DEEP else None


def _sparse(numbers: Floats) -> dict[int, float]:
    used = np.flatnonzero(numbers)
    return dict(zip(used.tolist(), numbers[used].tolist(), strict=True))


class Rounds:
    """Rounds of cuts at the root.

    Parameters
    ----------
    model : Model
    lp : Relaxation
        Of the model; its own to change.
    others : callable, optional
        Returns other lemmas that an optimum violates, for the optimum and the rows so far, of the
        model and of lemmas. Cuts are made where there are none.
    of_row : callable, optional
        Returns another cut of a row of the tableau, for the cuts, the tableau and multipliers.
        With it, cuts are made, too, where other lemmas close little.
    left_s : callable, optional
        Returns the seconds that are left for cuts; those of the relaxation if it is not given.
    is_short : bool, optional
        Whether time is so short that cuts are given up at once where they close nothing.
    """

    def __init__(
        self,
        model: Model,
        lp: Relaxation,
        others: OtherLemmas = lambda *_: [],
        of_row: OfRow | None = None,
        left_s: Callable[[], float] | None = None,
        is_short: bool = False,
    ):
        self._stalled = SOON_STALLED if is_short else STALLED
        self.left_s = left_s or lp.left_s
        self.model, self.lp, self.others, self.of_row = model, lp, others, of_row
        self.made: list[Lemma] = []
        self._cuts: Cuts | None = None
        #: Of the relaxation, round after round.
        self.bounds: list[float] = []
        #: Whether more rounds are of no use.
        self.is_over = False
        #: Whether the relaxation has got rows, or none yet, since the last of its bounds.
        self._is_new = True

    def closed(self, target: float) -> float:
        """Return the part of the gap between relaxation and target that is closed."""
        gap = target - self.bounds[0] if self.bounds else 0.0
        return (max(self.bounds) - self.bounds[0]) / gap if gap > 0 else 1.0

    def gains(self, target: float) -> bool:
        """Return whether the last rounds closed much of the gap, and more may do so.

        Before a second relaxation is solved nothing has been closed: what the cuts of a first round
        are worth is not known, and until then they have no more time than other trees.
        """
        bounds = self.bounds
        if self.is_over or not bounds:
            return False
        gained = bounds[-1] - bounds[-LATELY:][0]
        return len(bounds) > 1 and gained >= GAINING * (target - bounds[0])

    def is_fast(self, target: float, most: float) -> bool:
        """Return whether at most so many lemmas close much of the gap."""
        return bool(self.bounds) and len(self.made) <= most and self.closed(target) >= FAST

    def lemmas(self, target: float, most: float = math.inf) -> list[Lemma]:
        """Return lemmas that close part of the gap between relaxation and target; maybe none.

        Rounds that the time broke off are gone on with when it is called again, and so are those
        that are to show what lemmas are worth: few, of which none makes cuts of the tableau.

        Parameters
        ----------
        target : float
        most : float, optional
            Of how many lemmas the worth is to be shown; infinite for lemmas that are to be used.
        """
        is_probe = math.isfinite(most)
        while not self.is_over and self.left_s() > 0:
            solved = self.lp.solve()
            if solved.x is None:  # the time is up, or there is nothing to cut off
                self.is_over = solved.infeasible
                break
            if self._is_new:
                self.bounds.append(solved.objective)
            if self._is_idle(target):
                self.is_over = True
                break
            is_shown = len(self.bounds) >= PROBES or len(self.made) > most
            if is_probe and (is_shown or self.is_fast(target, most)):
                self._is_new = False
                break
            found = self._found(solved.x, target, is_probe)
            self._is_new = bool(found)
            if is_probe and not found:
                break
            self.is_over = not found and self.left_s() > 0
            for lemma in found:
                self.lp.add_row(lemma.row)
            self.made += found
        if not self.bounds or self.closed(target) < WORTH:
            return []
        return self._tight()

    def _is_idle(self, target: float) -> bool:
        """Return whether the target is reached, or the last rounds closed little of the gap."""
        bounds = self.bounds
        gap = target - bounds[0]
        idle = any(
            len(bounds) >= rounds and bounds[-1] < bounds[-rounds] + gain * gap
            for rounds, gain in ((self._stalled, NOTHING), (PATIENCE, GAIN))
        )
        return idle or bounds[-1] >= target or len(bounds) >= ROUNDS

    def _found(self, x: Floats, target: float, is_probe: bool) -> list[Lemma]:
        """Return the lemmas of a round."""
        bounds = self.bounds
        found = self.others(x, self._rows())
        if is_probe:
            return found
        gained = bounds[-1] - bounds[-2] if len(bounds) > 1 else math.inf
        slow = self.of_row is not None and gained < SLOW * (target - bounds[0])
        return [*found, *self._cut_off()] if slow or not found else found

    def _cut_off(self) -> list[Lemma]:
        """Return the lemmas that cut off the relaxation's optimum deepest."""
        tableau = self.lp.tableau()
        x = tableau.x
        if self._cuts is None:
            self._cuts = Cuts(self.model, self.model.rows)
        cuts = self._cuts
        known = len(cuts.box.rows) - len(self.model.rows)
        cuts.add([lemma.row for lemma in self.made[known:]])
        share = np.abs(x - np.round(x))
        basic = [(k, j) for k, j in enumerate(tableau.basic) if j >= 0 and self.model.integer[j]]
        basic = [(k, j) for k, j in basic if share[j] > FRACTIONAL]
        basic.sort(key=lambda pair: -share[pair[1]])
        found: list[Deep] = []
        for k, j in basic[:TRIED]:
            if self.left_s() <= 0:
                break
            multipliers = self.lp.inverse_row(k)
            along = cuts.along(multipliers)
            self.lp.work.tableau(cuts.entries)
            of_row = self.of_row and self.of_row(cuts, tableau, multipliers, along)
            found += [cut for cut in (cuts.cut(tableau, j, multipliers, along), of_row) if cut]
        found.sort(key=lambda cut: -cut[0])
        made: list[tuple[float, Lemma]] = []
        for cut in found:
            if len(made) == A_ROUND or self.left_s() <= 0:
                break
            lemma = cuts.proved(cut, x)
            if lemma is not None:
                made.append(lemma)
        made.sort(key=lambda pair: -pair[0])
        return [lemma for _, lemma in made]

    def _rows(self) -> list[Row]:
        return [*self.model.rows, *(lemma.row for lemma in self.made)]

    def _tight(self) -> list[Lemma]:
        """Return the lemmas that hold the relaxation's optimum, and those that these need."""
        first = len(self.model.rows)
        held = np.flatnonzero(self.lp.tableau().rows[first:])
        leaf = " ".join(["l", "0", "1", *(f"{first + k} 1" for k in held.tolist())])
        return without_unused(self.made, [leaf], first)[0]


def _matrix(rows: Sequence[Row], columns: int) -> csr_array:
    starts = np.cumsum([0, *(len(row[0]) for row in rows)])
    entries = np.array([a / row[4] for row in rows for a in row[1]], dtype=float)
    indices = np.array([j for row in rows for j in row[0]], dtype=np.int64)
    return csr_array((entries, indices, starts), shape=(len(rows), columns))


def _is_whole(model: Model, row: Row) -> bool:
    """Return True if a row takes only integer values, and its sides are integers."""
    columns, coefficients, low, high, denominator = row
    sides = [side for side in (low, high) if side is not None]
    if any(a % denominator for a in (*coefficients, *sides)):
        return False
    return all(model.integer[j] for j in columns)
