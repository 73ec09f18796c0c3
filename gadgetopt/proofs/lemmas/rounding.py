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
from typing import TYPE_CHECKING

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

    def cut(self, of: Sum, x: list[float]) -> tuple[float, Split] | None:
        """Return the depth of a sum's cut and the cut; None if it cuts nothing off."""
        moved = self._without_continuous(of.terms, of.side, x)
        if moved is None:
            return None
        whole, beta, distances = moved
        columns, alpha, at, turned, beta = self._from_bounds(whole, beta, x)
        if columns is None or not columns:
            return None
        pull = sum(d.gamma * d.value(x, self) for d in distances if d.gamma < 0)
        widths = self._widths(columns)
        scale = _best_scale(alpha, at, widths, beta, pull)
        if scale is None:
            return None
        alpha, turned, beta = _turned(alpha / scale, at, widths, turned, beta / scale, pull / scale)
        return _Cut(
            self, columns, alpha, turned, beta, distances, of.weights, of.slacks, scale
        ).split(x)

    def _without_continuous(
        self, sum_terms: Mapping[int, float], side: float, x: list[float]
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
    ) -> tuple[list[int] | None, Floats, Floats, Bools, float]:
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

    def value(self, x: list[float], bounds: Rounding) -> float:
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
        for slack in self.slacks:
            right += slack.add(out, left_rows, factor)
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

    def violated(scale: float) -> float:
        return _violation(alpha / scale, at, beta / scale, pull / scale)

    inside = (at > NEAR) & (at < widths - NEAR)
    scales = sorted(set(np.abs(alpha[inside]).tolist()))[:SCALES]
    best = max(((violated(s), s) for s in scales), default=(0.0, 1.0))
    if best[0] > DEEP:
        best = max(best, *((violated(best[1] / d), best[1] / d) for d in DIVISORS))
    else:
        best = max(((violated(s / d), s / d) for s in scales for d in DIVISORS), default=best)
    return best[1] if best[0] > DEEP else None
