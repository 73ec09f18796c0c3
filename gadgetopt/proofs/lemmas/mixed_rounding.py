r"""Complemented mixed-integer rounding cuts, each a lemma of a tree proof: a split and two leaves.

Rows are added up until few continuous columns are away from their bounds. In the sum, a continuous
column is written by its distance `t >= 0` from a bound, or from a row `x <= u y + d` with an
integer column y; an integer column by its distance z from its nearer bound. What is left, divided
by some :math:`\delta`, is :math:`\sum \alpha_j z_j + \sum \gamma_k t_k \le \beta`, and with
:math:`f = \beta - \lfloor\beta\rfloor`,

.. math::
    \sum \Big(\lfloor\alpha_j\rfloor + \frac{\max(0, f_j - f)}{1 - f}\Big) z_j
    + \sum_{\gamma_k < 0} \frac{\gamma_k}{1 - f} t_k \le \lfloor\beta\rfloor

holds (Marchand and Wolsey, Operations Research 2001). It is a split cut: with p the integers
:math:`\lfloor\alpha_j\rfloor` where :math:`f_j \le f` and :math:`\lceil\alpha_j\rceil` elsewhere,
it follows from the split and bounds alone on the side :math:`p z \le \lfloor\beta\rfloor`, and on
the other from the sum of rows over :math:`1 - f` and the split times :math:`f / (1 - f)`. All of
this is in doubles: the leaves, made exact, say what is proved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.proofs.lemmas.splits import Split, deepest_lemma
from gadgetopt.proofs.tree_kernel import Box

if TYPE_CHECKING:
    from gadgetopt.numbers.arrays import Floats
    from gadgetopt.proofs.lemmas.splits import Lemma
    from gadgetopt.proofs.model import Model
    from gadgetopt.proofs.tree_kernel import Row

#: Rows that are added up, at most; scales that are tried, and their divisors after the best.
ROWS, SCALES, DIVISORS = 6, 8, (2, 4, 8)
#: Depth from which a cut is worth a lemma, and lemmas of a round, at most: the larger counts.
DEEP, A_ROUND, A_ROUND_PART = 1e-4, 50, 0.2
#: Part of 1 from which on the fraction f of a cut is neither 0 nor 1.
FRACTION = 0.01
#: Numbers below this are noise of doubles.
NOISE = 1e-9
#: Rounds in a row in which a row gave nothing before it is left out.
PATIENCE = 3


@dataclass(frozen=True)
class Side:
    """`sum a x <= side` of a row of the model: the row, and the factor by which it is one."""

    row: int
    sign: int
    terms: dict[int, float]
    side: float
    is_equation: bool


@dataclass(frozen=True)
class Variable:
    """`sign (factor y + constant - x) >= 0`, from a row times `weight`."""

    row: int
    y: int
    factor: float
    constant: float
    sign: int
    weight: float


class MixedRounding:
    """Makes lemmas that a relaxation's optimum violates.

    Parameters
    ----------
    model : Model
    left_s : callable
        Returns the seconds that are left.
    """

    def __init__(self, model: Model, left_s: Callable[[], float]):
        self.model, self.left_s = model, left_s
        self.lower = [-math.inf if x is None else float(x) for x in model.lower]
        self.upper = [math.inf if x is None else float(x) for x in model.upper]
        self.sides = list(_sides(model))
        self.idle = [0] * len(self.sides)
        #: By continuous column: the sides that hold it, and its variable bounds.
        self.holding: dict[int, list[int]] = {}
        self.variable: dict[int, list[Variable]] = {}
        for k, side in enumerate(self.sides):
            for j in side.terms:
                if not model.integer[j]:
                    self.holding.setdefault(j, []).append(k)
            if len(side.terms) == 2:
                self._note_variable(side)

    def _note_variable(self, side: Side) -> None:
        (x, a), (y, b) = side.terms.items()
        if self.model.integer[x]:
            x, a, y, b = y, b, x, a
        if self.model.integer[x] or not self.model.integer[y]:
            return
        sign = 1 if a > 0 else -1
        bound = Variable(side.row, y, -b / a, side.side / a, sign, -side.sign / abs(a))
        self.variable.setdefault(x, []).append(bound)

    def violated(self, x: Floats, rows: Sequence[Row]) -> list[Lemma]:
        """Return lemmas that cut off a point, the deepest first.

        Parameters
        ----------
        x : ndarray of float, shape (columns,)
        rows : sequence of Row
            Rows of the model and the lemmas so far.
        """
        point = x.tolist()
        cuts: list[tuple[float, Split]] = []
        for k in self._in_order(point):
            if self.left_s() <= 0:
                break
            found = self._from(k, point)
            self.idle[k] = 0 if found else self.idle[k] + 1
            if found is not None:
                cuts.append(found)
        cuts.sort(key=lambda found: -found[0])
        box = Box(self.model, list(rows))
        made: list[Lemma] = []
        met = set[tuple[object, ...]]()
        for deep, cut in cuts[: max(A_ROUND, int(A_ROUND_PART * len(point)))]:
            key = (*cut.alpha.items(),)
            if key in met or self.left_s() <= 0:
                continue
            met.add(key)
            lemma = deepest_lemma(self.model, box, cut, x, deep)
            if lemma is not None and lemma[0] > DEEP:
                made.append(lemma[1])
        return made

    def _in_order(self, x: list[float]) -> list[int]:
        """Return the sides to begin with, those that hold with the least slack first."""
        slack = []
        for k, side in enumerate(self.sides):
            if self.idle[k] < PATIENCE:
                norm = math.sqrt(sum(a * a for a in side.terms.values()))
                rest = side.side - sum(a * x[j] for j, a in side.terms.items())
                slack.append((rest / norm if norm else math.inf, k))
        return [k for _, k in sorted(slack)]

    def _from(self, k: int, x: list[float]) -> tuple[float, Split] | None:
        """Return the deepest cut of the first sum that gives one, beginning with a side."""
        first = self.sides[k]
        terms, side, used = dict(first.terms), first.side, {k}
        weights = {first.row: float(first.sign)}
        whole = first.is_equation
        for _ in range(ROWS):
            cut = self._rounded(terms, side, weights, x)
            if cut is None and whole:
                cut = self._rounded(_negated(terms), -side, _negated(weights), x)
            if cut is not None:
                return cut
            found = self._next(terms, used, x)
            if found is None:
                return None
            added, factor = found
            used.add(added)
            other = self.sides[added]
            whole = whole and other.is_equation
            side += factor * other.side
            weights[other.row] = weights.get(other.row, 0.0) + factor * other.sign
            for j, a in other.terms.items():
                terms[j] = terms.get(j, 0.0) + factor * a
            terms = {j: a for j, a in terms.items() if abs(a) > NOISE}
        return None

    def _next(
        self, terms: dict[int, float], used: set[int], x: list[float]
    ) -> tuple[int, float] | None:
        """Return a side and factor that rid a sum of the continuous column farthest from bounds."""
        far = []
        for j in terms:
            if j in self.holding:
                distance = min(x[j] - self.lower[j], self._room(j, x))
                if distance > 1e-6:
                    far.append((distance, j))
        for _, j in sorted(far, reverse=True):
            for k in self.holding[j]:
                side = self.sides[k]
                factor = -terms[j] / side.terms[j]
                if k not in used and (side.is_equation or factor > 0):
                    return k, factor
        return None

    def _room(self, j: int, x: list[float]) -> float:
        """Return the distance of a column from its nearest upper bound."""
        bounds = [b.factor * x[b.y] + b.constant for b in self.variable.get(j, []) if b.sign > 0]
        return min([self.upper[j], *bounds]) - x[j]

    def _rounded(
        self, sum_terms: dict[int, float], side: float, weights: dict[int, float], x: list[float]
    ) -> tuple[float, Split] | None:
        """Return the depth and the cut of `sum_terms <= side`; None if it cuts nothing off."""
        moved = self._without_continuous(sum_terms, side, x)
        if moved is None:
            return None
        whole, beta, distances = moved
        columns, alpha, at, turned, beta = self._from_bounds(whole, beta, x)
        if columns is None or not columns:
            return None
        pull = sum(d.gamma * d.value(x, self) for d in distances if d.gamma < 0)
        scale = _best_scale(alpha, at, self._widths(columns), beta, pull)
        if scale is None:
            return None
        return _Cut(
            self, columns, alpha / scale, turned, beta / scale, distances, weights, scale
        ).split(x)

    def _without_continuous(
        self, sum_terms: dict[int, float], side: float, x: list[float]
    ) -> tuple[dict[int, float], float, list[Distance]] | None:
        """Write continuous columns by distances; None if one has no bound."""
        whole = {j: a for j, a in sum_terms.items() if self.model.integer[j] and abs(a) > NOISE}
        distances = []
        for j, c in sum_terms.items():
            if self.model.integer[j] or abs(c) <= NOISE:
                continue
            low, high = x[j] - self.lower[j], self.upper[j] - x[j]
            near, bound = min(low, high), None
            for variable in self.variable.get(j, []):
                gap = variable.sign * (variable.factor * x[variable.y] + variable.constant - x[j])
                if gap <= near + NOISE:
                    near, bound = gap, variable
            if bound is not None:
                side -= c * bound.constant
                whole[bound.y] = whole.get(bound.y, 0.0) + c * bound.factor
                distances.append(Distance(j, -c * bound.sign, bound))
            elif near == math.inf:
                return None
            elif low <= high:
                side -= c * self.lower[j]
                distances.append(Distance(j, c, None))
            else:
                side -= c * self.upper[j]
                distances.append(Distance(j, -c, None, at_upper=True))
        return {j: a for j, a in whole.items() if abs(a) > NOISE}, side, distances

    def _from_bounds(
        self, whole: dict[int, float], beta: float, x: list[float]
    ) -> tuple[list[int] | None, Floats, Floats, np.ndarray, float]:
        """Write integer columns by distances from nearer bounds; no columns if one has none."""
        columns = list(whole)
        alpha, at = np.empty(len(columns)), np.empty(len(columns))
        turned = np.zeros(len(columns), dtype=bool)
        for k, j in enumerate(columns):
            low, high, a = self.lower[j], self.upper[j], whole[j]
            if high - x[j] < x[j] - low:
                turned[k], alpha[k], at[k] = True, -a, high - x[j]
                beta -= a * high
            elif low > -math.inf:
                alpha[k], at[k] = a, x[j] - low
                beta -= a * low
            else:
                return None, alpha, at, turned, beta
        return columns, alpha, at, turned, beta

    def _widths(self, columns: list[int]) -> Floats:
        return np.array([self.upper[j] - self.lower[j] for j in columns])


@dataclass(frozen=True)
class Distance:
    """The distance of a continuous column from a bound, and its coefficient in a sum."""

    column: int
    gamma: float
    bound: Variable | None
    at_upper: bool = False

    def value(self, x: list[float], bounds: MixedRounding) -> float:
        """Return the distance at a point."""
        j, at = self.column, x[self.column]
        if self.bound is not None:
            return self.bound.sign * (
                self.bound.factor * x[self.bound.y] + self.bound.constant - at
            )
        return bounds.upper[j] - at if self.at_upper else at - bounds.lower[j]


@dataclass(frozen=True)
class _Cut:
    """A sum over a scale, ready to be rounded: `alpha z + gamma t <= beta`."""

    bounds: MixedRounding
    columns: list[int]
    alpha: Floats
    turned: np.ndarray
    beta: float
    distances: list[Distance]
    weights: dict[int, float]
    scale: float

    def split(self, x: list[float]) -> tuple[float, Split] | None:
        """Return the depth of the cut at a point, and what proves it; None if it is not deep."""
        low, high = self.bounds.lower, self.bounds.upper
        floor = math.floor(self.beta)
        f = self.beta - floor
        g, p = _rounding(self.alpha, f), _pieces(self.alpha, f)
        out, form, right, value = dict[int, float](), dict[int, int](), float(floor), floor
        for k, j in enumerate(self.columns):
            sign, at = (-1, high[j]) if self.turned[k] else (1, low[j])
            if g[k]:
                out[j] = sign * g[k]
                right += sign * g[k] * at
            if p[k]:
                form[j] = sign * int(p[k])
                value += sign * int(p[k]) * round(at)
        left_rows, right_rows = dict[int, float](), dict[int, float]()
        factor = 1 / (self.scale * (1 - f))
        for i, w in self.weights.items():
            right_rows[i] = right_rows.get(i, 0.0) - w * factor
        for d in self.distances:
            c = d.gamma * factor
            rows = left_rows if c < 0 else right_rows
            if d.bound is not None:
                rows[d.bound.row] = rows.get(d.bound.row, 0.0) + abs(c) * d.bound.weight
            if c < 0:
                right += _add_distance(out, d, c, low, high)
        if not form:
            return None
        norm = math.sqrt(sum(a * a for a in out.values()))
        deep = (sum(a * x[j] for j, a in out.items()) - right) / norm if norm else 0.0
        if deep <= DEEP:
            return None
        least = {j: -a for j, a in out.items()}
        return deep, Split(least, form, value, (left_rows, -1.0), (right_rows, f / (1 - f)))


def _add_distance(
    out: dict[int, float], d: Distance, c: float, low: list[float], high: list[float]
) -> float:
    """Add c times a distance to a form; return what its constant adds to the right side."""
    j = d.column
    if d.bound is None:
        sign, at = (-1, high[j]) if d.at_upper else (1, low[j])
        out[j] = out.get(j, 0.0) + sign * c
        return sign * c * at
    s = d.bound.sign
    out[d.bound.y] = out.get(d.bound.y, 0.0) + c * s * d.bound.factor
    out[j] = out.get(j, 0.0) - c * s
    return -c * s * d.bound.constant


def _negated(numbers: dict[int, float]) -> dict[int, float]:
    return {k: -x for k, x in numbers.items()}


def _rounding(alpha: Floats, f: float) -> Floats:
    """Return the coefficients of the cut."""
    floor = np.floor(alpha + NOISE)
    return floor + np.maximum(0.0, alpha - floor - f) / (1 - f)


def _pieces(alpha: Floats, f: float) -> Floats:
    """Return the coefficients of the split."""
    floor = np.floor(alpha + NOISE)
    return np.where(alpha - floor <= f, floor, floor + 1)


def _best_scale(
    alpha: Floats, at: Floats, widths: Floats, beta: float, pull: float
) -> float | None:
    """Return the scale of the most violated cut; None if none is violated."""

    def violated(scale: float) -> float:
        b = beta / scale
        f = b - math.floor(b)
        if not FRACTION < f < 1 - FRACTION:
            return 0.0
        return float(_rounding(alpha / scale, f) @ at) + pull / (scale * (1 - f)) - math.floor(b)

    inside = (at > 1e-6) & (at < widths - 1e-6)
    scales = sorted(set(np.abs(alpha[inside]).tolist()))[:SCALES]
    best = max(((violated(s), s) for s in scales), default=(0.0, 1.0))
    if best[0] > DEEP:
        best = max(best, *((violated(best[1] / d), best[1] / d) for d in DIVISORS))
    else:
        best = max(((violated(s / d), s / d) for s in scales for d in DIVISORS), default=best)
    return best[1] if best[0] > DEEP else None


def _sides(model: Model) -> Iterator[Side]:
    for i, (columns, coefficients, low, high, unit) in enumerate(model.rows):
        terms = {j: a / unit for j, a in zip(columns, coefficients, strict=True) if a}
        if high is not None:
            yield Side(i, 1, terms, high / unit, low == high)
        if low is not None and low != high:
            yield Side(i, -1, {j: -a for j, a in terms.items()}, -low / unit, is_equation=False)
