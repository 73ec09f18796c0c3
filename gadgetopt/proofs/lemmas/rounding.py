r"""Complemented mixed-integer rounding cuts, each a lemma of a tree proof: a split and two leaves.

In a sum of rows, a continuous
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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats
from gadgetopt.proofs.lemmas.splits import Split

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Model

#: Scales that are tried, and their divisors after the best; columns whose other bound is tried.
#: Tuned: `benchmarks/constants.py`.
SCALES, DIVISORS, TURNED = 16, (2, 4, 8), 12
#: Depth from which a cut is worth a lemma. Tuned: `benchmarks/constants.py`.
DEEP = 1e-4
#: Part of 1 from which on the fraction f of a cut is neither 0 nor 1.
#: Tuned: `benchmarks/constants.py`.
FRACTION = 0.01
#: Numbers below this are noise of doubles; distance from a bound that is none.
#: Tuned: `benchmarks/constants.py`.
NOISE, NEAR = 1e-9, 1e-6


@dataclass(frozen=True)
class Variable:
    """`sign (factor y + constant - x) >= 0`, from a row times `weight`."""

    row: int
    y: int
    factor: float
    constant: float
    sign: int
    weight: float


@dataclass(frozen=True)
class Slack:
    """`gamma t` with `t = sign (a x - side) >= 0` of a row, and gamma below 0."""

    row: int
    gamma: float
    sign: int
    columns: Sequence[int]
    coefficients: Sequence[float]
    side: float

    def add(self, out: dict[int, float], left_rows: dict[int, float], factor: float) -> float:
        """Add the slack to a cut and its left leaf; return what that adds to the right side."""
        c = self.gamma * factor
        left_rows[self.row] = left_rows.get(self.row, 0.0) - c * self.sign
        for j, a in zip(self.columns, self.coefficients, strict=True):
            out[j] = out.get(j, 0.0) + c * self.sign * a
        return c * self.sign * self.side


@dataclass(frozen=True)
class Sum:
    """`terms + slacks <= side`: what rows times weights add up to.

    Rows that slacks stand for are in the terms, but not among the weights. The slacks are 0 at the
    point that is to be cut off.
    """

    terms: Mapping[int, float]
    side: float
    weights: Mapping[int, float]
    slacks: Sequence[Slack] = ()


class Rounding:
    """Makes cuts of sums of rows.

    Parameters
    ----------
    model : Model
    """

    def __init__(self, model: Model):
        self.model = model
        self.lower = [-math.inf if x is None else float(x) for x in model.lower]
        self.upper = [math.inf if x is None else float(x) for x in model.upper]
        #: By continuous column: its variable bounds.
        self.variable: dict[int, list[Variable]] = {}

    def at(self, x: list[float]) -> Point:
        """Return a point that is to be cut off."""
        return Point(self, x)

    def cut(self, of: Sum, point: Point) -> tuple[float, Split] | None:
        """Return the depth of a sum's cut and the cut; None if it cuts nothing off."""
        if point.inside.isdisjoint(of.terms):  # most sums
            return None
        moved = self._without_continuous(of.terms, of.side, point)
        if moved is None:
            return None
        whole, beta, distances, pull = moved
        columns = list(whole)
        ends, alpha = point.ends[:, columns], np.array(list(whole.values()))
        _, at, widths, _ = ends
        for a, bound in zip(whole.values(), ends[0].tolist(), strict=True):
            beta -= a * bound
        if not math.isfinite(beta):
            return None
        turned = ends[3] > 0
        alpha[turned] = -alpha[turned]
        scale = _best_scale(alpha, at, widths, beta, pull)
        if scale is None:
            return None
        alpha, turned, beta = _turned(alpha / scale, at, widths, turned, beta / scale, pull / scale)
        return _Cut(
            self, columns, alpha, turned, beta, distances, of.weights, of.slacks, scale
        ).split(point.x)

    def _without_continuous(
        self, terms: Mapping[int, float], side: float, point: Point
    ) -> tuple[dict[int, float], float, list[Distance], float] | None:
        """Write continuous columns by distances; None if one has no bound.

        It returns the terms of integer columns, the side, the distances, and what those of them
        that a cut keeps add up to at the point.
        """
        integer = self.model.integer
        whole = {j: a for j, a in terms.items() if integer[j] and abs(a) > NOISE}
        distances, pull = [], 0.0
        for j, c in terms.items():
            if integer[j] or abs(c) <= NOISE:
                continue
            end = point.continuous(j)
            if end is None:
                return None
            side -= c * end.bound
            of = end.variable
            if of is not None:
                whole[of.y] = whole.get(of.y, 0.0) + c * of.factor
            gamma = -c if end.at_upper else c
            distances.append(Distance(j, gamma, of, end.at_upper))
            if gamma < 0:
                pull += gamma * end.distance
        return {j: a for j, a in whole.items() if abs(a) > NOISE}, side, distances, pull


class End(NamedTuple):
    """A bound of a column, which may be a variable's, and the distance of a point from it.

    Attributes
    ----------
    bound : float
        The constant of a variable bound.
    """

    bound: float
    at_upper: bool
    distance: float
    variable: Variable | None = None


class Point:
    """A point, and the nearest bounds of its columns, each found when it is first asked for."""

    def __init__(self, bounds: Rounding, x: list[float]):
        self.x = x
        self._bounds = bounds
        self._ends: dict[int, End | None] = {}
        #: The integer columns that are at no bound, and the continuous ones at whose bound such a
        #: one is: a sum of others gives no cut.
        self.inside: set[int] = self._inside()

    def _inside(self) -> set[int]:
        x, bounds = self.x, self._bounds
        found = {
            j
            for j, at in enumerate(x)
            if bounds.model.integer[j] and bounds.lower[j] + NEAR < at < bounds.upper[j] - NEAR
        }
        for j in bounds.variable if x else ():
            end = self.continuous(j)
            if end is not None and end.variable is not None and end.variable.y in found:
                found.add(j)
        return found

    @cached_property
    def ends(self) -> Floats:
        """By column: nearer bound, distance from it, width between bounds, 1 if it is the upper."""
        low, high, x = np.array(self._bounds.lower), np.array(self._bounds.upper), np.array(self.x)
        above, below = high - x, x - low
        at_upper = above < below
        bounds, distances = np.where(at_upper, high, low), np.where(at_upper, above, below)
        ends: Floats = np.stack([bounds, distances, high - low, at_upper])
        return ends

    def continuous(self, j: int) -> End | None:
        """Return the nearest bound of a continuous column; None if it has none."""
        if j not in self._ends:
            self._ends[j] = self._nearest(j)
        return self._ends[j]

    def _nearest(self, j: int) -> End | None:
        x, low, high = self.x, self._bounds.lower[j], self._bounds.upper[j]
        end = (
            End(low, False, x[j] - low)
            if x[j] - low <= high - x[j]
            else End(high, True, high - x[j])
        )
        near, best = end.distance, end if math.isfinite(end.bound) else None
        for variable in self._bounds.variable.get(j, []):
            gap = variable.sign * (variable.factor * x[variable.y] + variable.constant - x[j])
            if gap <= near + NOISE:
                near, best = gap, End(variable.constant, variable.sign > 0, gap, variable=variable)
        return best


@dataclass(frozen=True)
class Distance:
    """The distance of a continuous column from a bound, and its coefficient in a sum."""

    column: int
    gamma: float
    bound: Variable | None
    at_upper: bool = False


@dataclass(frozen=True)
class _Cut:
    """A sum over a scale, ready to be rounded: `alpha z + gamma t <= beta`."""

    bounds: Rounding
    columns: list[int]
    alpha: Floats
    turned: Bools
    beta: float
    distances: list[Distance]
    weights: Mapping[int, float]
    slacks: Sequence[Slack]
    scale: float

    def split(self, x: list[float]) -> tuple[float, Split] | None:
        """Return the depth of the cut at a point, and what proves it; None if it is not deep."""
        low, high = self.bounds.lower, self.bounds.upper
        floor = math.floor(self.beta)
        f = self.beta - floor
        g, p = _rounding(self.alpha, f).tolist(), _pieces(self.alpha, f).tolist()
        out, form, right, value = dict[int, float](), dict[int, int](), float(floor), floor
        turned = self.turned.tolist()
        for j, a, piece, is_turned in zip(self.columns, g, p, turned, strict=True):
            sign, at = (-1, high[j]) if is_turned else (1, low[j])
            if a:
                out[j] = sign * a
                right += sign * a * at
            if piece:
                form[j] = sign * int(piece)
                value += sign * int(piece) * round(at)
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
        for slack in self.slacks:
            right += slack.add(out, left_rows, factor)
        if not form:
            return None
        norm = math.sqrt(sum([a * a for a in out.values()]))
        deep = (sum([a * x[j] for j, a in out.items()]) - right) / norm if norm else 0.0
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


def _rounding(alpha: Floats, f: float) -> Floats:
    """Return the coefficients of the cut."""
    floor = np.floor(alpha + NOISE)
    return floor + np.maximum(0.0, alpha - floor - f) / (1 - f)


def _pieces(alpha: Floats, f: float) -> Floats:
    """Return the coefficients of the split."""
    floor = np.floor(alpha + NOISE)
    return np.where(alpha - floor <= f, floor, floor + 1)


def _violation(alpha: Floats, at: Floats, beta: float, pull: float) -> float:
    """Return by how much a cut is violated; 0 if its fraction is near that of an integer."""
    f = beta - math.floor(beta)
    if not FRACTION < f < 1 - FRACTION:
        return 0.0
    return float(_rounding(alpha, f) @ at) + pull / (1 - f) - math.floor(beta)


def _turned(
    alpha: Floats, at: Floats, widths: Floats, turned: Bools, beta: float, pull: float
) -> tuple[Floats, Bools, float]:
    """Write columns by their other bounds, one after the other, where that violates a cut more."""
    best = _violation(alpha, at, beta, pull)
    inside = np.flatnonzero((at > NEAR) & np.isfinite(widths))
    alpha, at, turned = alpha.copy(), at.copy(), turned.copy()
    for k in inside[np.argsort(at[inside] - widths[inside] / 2, kind="stable")[::-1]][:TURNED]:
        a, z = alpha[k], at[k]
        alpha[k], at[k] = -a, widths[k] - z
        found = _violation(alpha, at, beta - a * widths[k], pull)
        if found > best + NOISE:
            best, beta, turned[k] = found, float(beta - a * widths[k]), not turned[k]
        else:
            alpha[k], at[k] = a, z
    return alpha, turned, beta


def _best_scale(
    alpha: Floats, at: Floats, widths: Floats, beta: float, pull: float
) -> float | None:
    """Return the scale of the most violated cut; None if none is violated."""
    inside = (at > NEAR) & (at < widths - NEAR)
    plain = sorted(set(np.abs(alpha[inside]).tolist()))[:SCALES]
    if not plain:
        return None
    away = at != 0.0
    scales = [s / d for d in (1, *DIVISORS) for s in plain]
    violated = _violations(alpha[away], at[away], beta, pull, np.array(scales)).tolist()
    found = list(zip(violated, scales, strict=True))
    best, n = max(found[: len(plain)]), len(plain)
    best = max(found[plain.index(best[1]) :: n] if best[0] > DEEP else found[n:])
    return best[1] if best[0] > DEEP else None


def _violations(alpha: Floats, at: Floats, beta: float, pull: float, scales: Floats) -> Floats:
    """Return by how much the cuts of some scales are violated; see `_violation`."""
    beta_of = beta / scales
    floors = np.floor(beta_of)
    f = beta_of - floors
    is_cut = (f > FRACTION) & (f < 1 - FRACTION)
    f = np.where(is_cut, f, 0.0)[:, None]
    scaled = alpha / scales[:, None]
    pieces = np.floor(scaled + NOISE)
    rounded = (pieces + np.maximum(0.0, scaled - pieces - f) / (1 - f)) @ at
    out: Floats = np.where(is_cut, rounded + pull / scales / (1 - f[:, 0]) - floors, 0.0)
    return out
