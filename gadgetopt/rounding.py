r"""Randomised rounding of packing programs, scaled down so that it tends to stay feasible.

A point x of :math:`B x \le b, x \ge 0` is shrunk to M x, and every coordinate is rounded on its
own: up with the probability of its fractional part, down otherwise. With r rows and the width
:math:`W_b = \min \{b_i / B_{ij} : B_{ij} > 0\}` the factor

.. math::
    M_\delta = 1 + \frac A2 - \sqrt{\frac{A^2}{4} + A}, \qquad A = \frac{3 \ln(2r / \delta)}{W_b}

bounds the probability that one row is violated by :math:`\delta / 2r` (Raghavan and Thompson), and
so that of an attempt by :math:`\delta / 2`. At M of at most 1/2 and coordinates of at least 1 every
attempt is feasible, as then :math:`\lceil M x \rceil \le x`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

#: What becomes of a coordinate that is rounded to 0 where at least 1 is wanted: it is set to 1, the
#: attempt fails, or it stays 0.
Zero = Literal["clip", "reject", "keep"]


def packing_width(matrix: npt.ArrayLike, limits: npt.ArrayLike) -> float:
    """Return W_b, the least ratio of a limit to a positive entry; infinite if there is none.

    Parameters
    ----------
    matrix : array, shape (rows, columns)
        B, non-negative.
    limits : array, shape (rows,)
        b.
    """
    B, b = np.asarray(matrix, dtype=float), np.asarray(limits, dtype=float)
    rows, columns = np.nonzero(B > 0)
    return float(np.min(b[rows] / B[rows, columns], initial=math.inf))


def shrink_factor(rows: int, width: float, delta: float) -> float:
    r"""Return M_delta, in (0, 1]; it grows with delta and with the width.

    Computed as :math:`1 / (1 + A/2 + \sqrt{A^2/4 + A})`, which is the same without cancellation.

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
    if rows < 1:
        raise ValueError(f"rows: {rows} is not a positive integer")
    if not width > 0:
        raise ValueError(f"width: {width} is not positive")
    if not 0 < delta <= 1:
        raise ValueError(f"delta: {delta} is not in (0, 1]")
    A = 3 * (math.log(2 * rows) - math.log(delta)) / width
    return 1 / (1 + A / 2 + math.sqrt(A) * math.sqrt(A / 4 + 1))


def round_at_random(x: npt.ArrayLike, attempts: int, rng: np.random.Generator) -> Ints:
    """Return independent roundings of a point, shape (attempts, coordinates).

    Each coordinate is rounded up with the probability of its fractional part; integers stay.
    """
    point = np.asarray(x, dtype=float)
    low = np.floor(point)
    up = rng.random((attempts, len(point))) < point - low
    return np.asarray(low + up, dtype=np.int64)


@dataclass(frozen=True)
class RoundedPoint:
    """What came of a number of attempts to round a point.

    Attributes
    ----------
    x : tuple of int or None
        The feasible rounding of the least cost, the first of equals; None if there is none.
    cost : float or None
    attempts, failed : int
        Attempts in all, and those that were not feasible.
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

    Parameters
    ----------
    x : array, shape (n,)
        The fractional point.
    feasible : function
        Of candidates, shape (k, n), says for each whether it satisfies the rows, shape (k,).
    cost : function
        Of candidates, shape (k, n), their costs, shape (k,); the least is best.
    rng : numpy.random.Generator
    shrink : float
        M, in (0, 1]: `shrink_factor` of a failure probability, or 1.
    attempts : int
        F, at least 1.
    zero : "clip", "reject" or "keep"
        What becomes of coordinates that are rounded to 0.

    Raises
    ------
    ValueError
        If shrink or attempts is out of its range.
    """
    if not 0 < shrink <= 1:
        raise ValueError(f"shrink: {shrink} is not in (0, 1]")
    if attempts < 1:
        raise ValueError(f"attempts: {attempts} is not a positive integer")
    candidates = round_at_random(shrink * np.asarray(x, dtype=float), attempts, rng)
    if zero == "clip":
        candidates = np.maximum(1, candidates)
    mask = feasible(candidates)
    if zero == "reject":
        mask = mask & (candidates > 0).all(axis=1)
    kept = candidates[mask]
    failed = attempts - len(kept)
    if len(kept) == 0:
        return RoundedPoint(None, None, attempts, failed)
    costs = cost(kept)
    best = int(np.argmin(costs))
    return RoundedPoint(tuple(int(v) for v in kept[best]), float(costs[best]), attempts, failed)
