r"""Randomised rounding of packing and covering programs, scaled to keep rows feasible.

A point x of :math:`A x \ge a,\ B x \le b,\ x \ge 0` is scaled to G x, and every coordinate is
rounded on its own: up with the probability of its fractional part, down otherwise. With the widths
:math:`W_a = \min \{a_i / A_{ij} : A_{ij} > 0\}` and
:math:`W_b = \min \{b_i / B_{ij} : B_{ij} > 0\}` a row of either side is a sum of independent terms
of at most 1 with mean at least :math:`G W_a` or at most :math:`G W_b` (Raghavan and Thompson).
G < 1 makes packing rows hold, G > 1 covering rows: one of `rows` rows is violated with probability
:math:`\delta / (k\,\text{rows})` at most, where k is the number of bad events among which
:math:`\delta` is shared. With :math:`\ell = \ln(k\,\text{rows} / \delta)` there are three forms of
the factor.

- `printed`: from the tails :math:`e^{-\epsilon^2 \mu / 3}` and :math:`e^{-\epsilon^2 \mu / 2}`,

  .. math::
      G = 1 + \tfrac{3 \ell}{2 W_b} - \sqrt{\big(\tfrac{3 \ell}{2 W_b}\big)^2 + \tfrac{3 \ell}{W_b}}
      \qquad
      G = 1 + \tfrac{\ell}{W_a} + \sqrt{\big(\tfrac{\ell}{W_a}\big)^2 + \tfrac{2 \ell}{W_a}}.

  The first tail holds for :math:`\epsilon = 1/G - 1 \le 1` only: below G = 1/2, that is for
  :math:`W_b < 6 \ell`, nothing is proved.
- `corrected` (packing): there the tail :math:`e^{-\epsilon^2 \mu / (2 + \epsilon)}` gives
  :math:`G = (2 W_b + \ell - \sqrt{8 W_b \ell + \ell^2}) / (2 W_b)`, positive for
  :math:`W_b > \ell` (reconstructed).
- `chernoff`: the tails in full give both factors as the two roots of
  :math:`G - 1 - \ln G = \ell / W`, whatever the width; they are nearer to 1 than the other
  proved factors (reconstructed).

At G of at most 1/2 and coordinates of at least 1 every attempt satisfies the packing rows, as then
:math:`\lceil G x \rceil \le x`. `gadgetopt.pieces.bicriteria` treats both sides at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import lambertw

from gadgetopt.numbers.arrays import Bools, Floats, Ints

#: Treatment of a coordinate that is rounded to 0 but should be at least 1: it is set to 1, the
#: attempt fails, or it stays 0.
Zero = Literal["clip", "reject", "keep"]
#: The feasible attempt that is returned.
Keep = Literal["first", "best"]
#: The tail bound that the scaling factor comes from.
Tail = Literal["printed", "corrected", "chernoff"]


def packing_width(matrix: npt.ArrayLike, limits: npt.ArrayLike) -> float:
    """Return W_b, the least ratio of a limit to a positive entry; infinite if there is none.

    Parameters
    ----------
    matrix : array, shape (rows, columns)
        B, non-negative.
    limits : array, shape (rows,)
        b.

    Examples
    --------
    >>> packing_width([[2, 1], [1, 4]], [6, 8])
    2.0
    """
    B, b = np.asarray(matrix, dtype=float), np.asarray(limits, dtype=float)
    rows, columns = np.nonzero(B > 0)
    return float(np.min(b[rows] / B[rows, columns], initial=math.inf))


def covering_width(matrix: npt.ArrayLike, needs: npt.ArrayLike) -> float:
    """Return W_a, the least ratio of a need a_i to a positive entry of its row of A."""
    return packing_width(matrix, needs)


def shrink_factor(rows: int, width: float, delta: float) -> float:
    r"""Return M_delta, in (0, 1]: the printed packing factor where cost and packing share delta.

    It grows with delta and with the width.

    Parameters
    ----------
    rows : int
        r, at least 1.
    width : float
        W_b, positive.
    delta : float
        In (0, 1]: twice the probability with which an attempt may fail.

    Raises
    ------
    ValueError
        If a parameter is out of its range.
    """
    return packing_factor(rows, width, delta, events=2, tail="printed")


def packing_factor(
    rows: int, width: float, delta: float, *, events: int = 3, tail: Tail = "corrected"
) -> float:
    r"""Return the factor G, in [0, 1], at which packing rows hold; it grows with delta and width.

    Parameters
    ----------
    rows : int
        r, at least 1.
    width : float
        W_b, positive.
    delta : float
        In (0, 1]; all packing rows hold with probability :math:`1 - \delta / k` at least.
    events : int
        k: 3 where cost, packing and covering share delta, 2 where there is no covering.
    tail : "printed", "corrected" or "chernoff"
        "corrected" is the printed factor where it is proved, else the factor for small widths. If
        there is none, the result is 0 and nothing is promised.

    Raises
    ------
    ValueError
        If a parameter is out of its range.
    """
    ell = _logarithm(rows, width, delta, events)
    if tail == "chernoff":
        return _chernoff_root(ell / width, branch=0)
    # 1 + A/2 - sqrt(A^2/4 + A) without cancellation.
    A = 3 * ell / width
    printed = 1 / (1 + A / 2 + math.sqrt(A) * math.sqrt(A / 4 + 1))
    if tail == "printed" or printed >= 0.5:  # epsilon is at most 1
        return printed
    if width <= ell:
        return 0.0
    # The product of the roots of W G^2 - (2W + l) G + (W - l) = 0 is 1 - l/W: no cancellation.
    larger = (2 * width + ell + math.sqrt(8 * width * ell + ell**2)) / (2 * width)
    return (1 - ell / width) / larger


def covering_factor(
    rows: int, width: float, delta: float, *, events: int = 3, tail: Tail = "printed"
) -> float:
    r"""Return the factor G, at least 1, at which covering rows hold; it falls with delta and width.

    Parameters are those of `packing_factor`, with W_a for W_b. The printed factor is proved for all
    widths, so that "corrected" is the same.
    """
    ell = _logarithm(rows, width, delta, events)
    if tail == "chernoff":
        return _chernoff_root(ell / width, branch=-1)
    share = ell / width
    return 1 + share + math.sqrt(share) * math.sqrt(share + 2)


def _chernoff_root(share: float, branch: int) -> float:
    """Return a root of G - 1 - ln G = share: branch 0 the one below 1, branch -1 the one above."""
    if share < 1e-6:  # Lambert's W loses its digits near its branch point
        step = math.sqrt(2 * share)
        return 1 + 2 * share / 3 + (-step if branch == 0 else step)
    if share < 600:  # G e^{-G} = e^{-(1 + share)} is a double
        return float(-lambertw(-math.exp(-(1 + share)), branch).real)
    if branch == 0:
        return 0.0
    G = 1 + share
    for _ in range(10):  # contracts by 1/G each time
        G = 1 + share + math.log(G)
    return G


def _logarithm(rows: int, width: float, delta: float, events: int) -> float:
    if rows < 1:
        raise ValueError(f"rows: {rows} is not a positive integer")
    if not width > 0:
        raise ValueError(f"width: {width} is not positive")
    if not 0 < delta <= 1:
        raise ValueError(f"delta: {delta} is not in (0, 1]")
    return math.log(events * rows) - math.log(delta)


def round_at_random(x: npt.ArrayLike, attempts: int, rng: np.random.Generator) -> Ints:
    """Return independent roundings of a point, shape (attempts, coordinates).

    Each coordinate is rounded up with the probability of its fractional part; integers stay.
    """
    point = np.asarray(x, dtype=float)
    low = np.floor(point)
    up = rng.random((attempts, len(point))) < point - low
    return np.asarray(low + up, dtype=np.int64)


def choose_at_random(
    weights: Sequence[npt.ArrayLike], attempts: int, rng: np.random.Generator
) -> Ints:
    """Return independent choices of at most one candidate of each group.

    This rounds a convex combination of ready plans per group: candidate k of a group is chosen with
    the probability of its weight, and none (-1) with the rest of 1.

    Parameters
    ----------
    weights : sequence of arrays
        The weights of the candidates of each group; non-negative, with a sum of at most 1 up to
        rounding error, which is divided out.
    attempts : int
    rng : numpy.random.Generator

    Returns
    -------
    array of int, shape (attempts, groups)
        The number of the candidate chosen, or -1.

    Raises
    ------
    ValueError
        If a weight is negative or a group's sum exceeds 1 by more than 1e-6.
    """
    out = np.full((attempts, len(weights)), -1, dtype=np.int64)
    draws = rng.random((attempts, len(weights)))
    for g, given in enumerate(weights):
        shares = np.asarray(given, dtype=float)
        steps = np.cumsum(shares)
        if len(steps) == 0:
            continue
        if shares.min() < 0 or steps[-1] > 1 + 1e-6:
            raise ValueError(f"weights[{g}]: not non-negative with a sum of at most 1")
        chosen = np.searchsorted(steps / max(1.0, steps[-1]), draws[:, g], side="right")
        out[:, g] = np.where(chosen < len(steps), chosen, -1)
    return out


@dataclass(frozen=True)
class RoundedPoint:
    """Result of a number of attempts to round a point.

    Attributes
    ----------
    x : tuple of int or None
        The feasible rounding that is kept; None if there is none.
    cost : float or None
    attempts, failed : int
        Number of attempts, and of those that were not feasible.
    """

    x: tuple[int, ...] | None
    cost: float | None
    attempts: int
    failed: int


def round_packing(
    x: npt.ArrayLike,
    feasible: Callable[[Ints], Bools],
    cost: Callable[[Ints], Floats],
    rng: np.random.Generator,
    *,
    shrink: float = 1.0,
    attempts: int = 20,
    zero: Zero = "clip",
) -> RoundedPoint:
    """Round a point of a packing program `attempts` times and keep the best feasible rounding.

    Parameters are those of `round_mixed`, with `shrink` in (0, 1] for its factor: `shrink_factor`
    of a failure probability, or 1.

    Raises
    ------
    ValueError
        If shrink or attempts is out of its range.
    """
    if not 0 < shrink <= 1:
        raise ValueError(f"shrink: {shrink} is not in (0, 1]")
    return round_mixed(x, feasible, cost, rng, factor=shrink, attempts=attempts, zero=zero)


def round_mixed(
    x: npt.ArrayLike,
    feasible: Callable[[Ints], Bools],
    cost: Callable[[Ints], Floats],
    rng: np.random.Generator,
    *,
    factor: float = 1.0,
    attempts: int = 50,
    zero: Zero = "keep",
    keep: Keep = "best",
) -> RoundedPoint:
    """Round a scaled point `attempts` times and keep the first or the best feasible rounding.

    Parameters
    ----------
    x : array, shape (n,)
        The fractional point.
    feasible : function
        Takes candidates, shape (k, n); returns True for those that satisfy the rows, shape (k,).
    cost : function
        Takes candidates, shape (k, n); returns their costs, shape (k,); the least is best.
    rng : numpy.random.Generator
    factor : float
        G, positive: `packing_factor`, `covering_factor`, or 1.
    attempts : int
        F or S, at least 1.
    zero : "clip", "reject" or "keep"
        Set coordinates that are rounded to 0 to 1, fail the attempt, or keep them.
    keep : "best" or "first"
        The feasible rounding of the least cost, the first of equals; or the first one.

    Raises
    ------
    ValueError
        If factor or attempts is out of its range.
    """
    check_attempts(factor, attempts)
    candidates = round_at_random(factor * np.asarray(x, dtype=float), attempts, rng)
    if zero == "clip":
        candidates = np.maximum(1, candidates)
    mask = feasible(candidates)
    if zero == "reject":
        mask = mask & (candidates > 0).all(axis=1)
    kept = candidates[mask]
    failed = attempts - len(kept)
    if len(kept) == 0:
        return RoundedPoint(None, None, attempts, failed)
    if keep == "first":
        kept = kept[:1]
    costs = cost(kept)
    best = int(np.argmin(costs))
    return RoundedPoint(tuple(int(v) for v in kept[best]), float(costs[best]), attempts, failed)


def check_attempts(factor: float, attempts: int) -> None:
    """Refuse a factor or a number of attempts out of its range.

    Raises
    ------
    ValueError
    """
    if not factor > 0:
        raise ValueError(f"factor: {factor} is not positive")
    if attempts < 1:
        raise ValueError(f"attempts: {attempts} is not a positive integer")
