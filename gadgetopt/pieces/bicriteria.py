r"""Bicriteria guarantee of randomised rounding for mixed packing and covering programs.

For :math:`\min \{c^\top x : A x \ge a, B x \le b, x \in \mathbb Z_+^n\}` with m covering and r
packing rows, :math:`\bar x` an optimum of the linear relaxation and :math:`\hat x` a rounding of
:math:`G \bar x`, the lemma shares :math:`\delta` among three bad events (Markov's inequality for
cost, a union over rows on either side): with probability :math:`1 - \delta` at least

.. math::
    c^\top \hat x \le \tfrac{3 G}{\delta} c^\top \bar x, \qquad
    (A \hat x)_i \ge \Big(1 - \sqrt{\tfrac{2 \ln(3m/\delta)}{G W_a}}\Big) G a_i, \qquad
    (B \hat x)_i \le \Big(1 + \sqrt{\tfrac{3 \ln(3r/\delta)}{G W_b}}\Big) G b_i,

where :math:`G \le 1` is a packing factor for which all packing rows hold, or :math:`G \ge 1` a
covering factor for which all covering rows hold (`gadgetopt.pieces.rounding`). The
statement is bicriteria: in either regime the other side may fail, and no probability is given that
both hold. `measure` counts how often they do.

Where the packing root exceeds 1 its tail is not proved; :math:`(\ell + \sqrt{\ell^2 + 8 \ell \mu})
/ (2 \mu)` with :math:`\ell = \ln(3r/\delta)` and :math:`\mu = G W_b` takes its place
(reconstructed).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.pieces.rounding import (
    Tail,
    check_attempts,
    covering_factor,
    covering_width,
    packing_factor,
    packing_width,
    round_at_random,
)

Regime = Literal["packing", "covering"]

#: A row may be violated by this part of its right-hand side, for rounding errors.
#: Tuned: `benchmarks/constants.py`.
TOLERANCE = 1e-9
#: Number of roundings that are drawn and multiplied together. Tuned: `benchmarks/constants.py`.
_BATCH = 1000


@dataclass(frozen=True)
class MixedProgram:
    """Costs and rows of a mixed packing and covering program.

    Attributes
    ----------
    cost : array, shape (n,)
        c, non-negative.
    covering : array, shape (m, n)
        A, non-negative.
    needs : array, shape (m,)
        a, positive.
    packing : array, shape (r, n)
        B, non-negative; rows with a limit of 0 need variables that are 0 anyway and are left out.
    limits : array, shape (r,)
        b, positive.
    """

    cost: Floats
    covering: Floats
    needs: Floats
    packing: Floats
    limits: Floats

    @cached_property
    def covering_width(self) -> float:
        """W_a."""
        return covering_width(self.covering, self.needs)

    @cached_property
    def packing_width(self) -> float:
        """W_b."""
        return packing_width(self.packing, self.limits)

    def factor(self, regime: Regime, delta: float, *, tail: Tail = "corrected") -> float:
        """Return G_delta of a regime; 0 if the regime has none."""
        if regime == "packing":
            return packing_factor(len(self.limits), self.packing_width, delta, tail=tail)
        return covering_factor(len(self.needs), self.covering_width, delta, tail=tail)


@dataclass(frozen=True)
class Lemma:
    """Promise of the lemma, with probability 1 - delta, at the factor of one of its regimes.

    Attributes
    ----------
    regime : "packing" or "covering"
    factor : float
        G.
    cost_ratio : float
        Cost over that of the point, at most.
    coverage : float
        Covered part of every need, at least; 0 where nothing is promised.
    overload : float
        Used part of every limit, at most; 1 is no overload.
    """

    regime: Regime
    factor: float
    cost_ratio: float
    coverage: float
    overload: float


def lemma(
    program: MixedProgram, regime: Regime, delta: float, *, tail: Tail = "corrected"
) -> Lemma | None:
    """Return the lemma's promise for a program, or None where its regime has no factor.

    Parameters
    ----------
    program : MixedProgram
    regime : "packing" or "covering"
    delta : float
        In (0, 1].
    tail : "printed", "corrected" or "chernoff"
        As in `gadgetopt.pieces.rounding`; with "printed" the promise need not be true.

    Raises
    ------
    ValueError
        If delta is out of its range.
    """
    G = program.factor(regime, delta, tail=tail)
    if G == 0:
        return None
    if regime == "packing":
        ell = math.log(3 * len(program.needs) / delta)
        short = math.sqrt(2 * ell / (G * program.covering_width))
        return Lemma(regime, G, 3 * G / delta, max(0.0, 1 - short) * G, 1.0)
    ell = math.log(3 * len(program.limits) / delta)
    mean = G * program.packing_width
    excess = math.sqrt(3 * ell / mean)
    if tail != "printed" and excess > 1:
        excess = (ell + math.sqrt(ell**2 + 8 * ell * mean)) / (2 * mean)
    return Lemma(regime, G, 3 * G / delta, 1.0, (1 + excess) * G)


@dataclass(frozen=True)
class BicriteriaReport:
    """Result of a number of independent attempts.

    Attributes
    ----------
    attempts : int
    covers, packs, both : float
        Part of the attempts in which all covering rows, all packing rows, all rows hold.
    coverage, least_coverage : float
        Covered part of the worst-covered need, at most 1: mean and least over attempts.
    overload, largest_overload : float
        Used part of the most used limit: mean and largest over attempts; above 1 is an overload.
    cost_ratio : float
        Mean cost over that of the point, over all attempts.
    feasible_cost_ratio : float or None
        The same over attempts in which all rows hold; None if there is none.
    """

    attempts: int
    covers: float
    packs: float
    both: float
    coverage: float
    least_coverage: float
    overload: float
    largest_overload: float
    cost_ratio: float
    feasible_cost_ratio: float | None


def measure(
    program: MixedProgram,
    x: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    factor: float = 1.0,
    attempts: int = 10_000,
) -> BicriteriaReport:
    """Round a scaled point of the relaxation many times and report how well the rows hold.

    Parameters
    ----------
    program : MixedProgram
    x : array, shape (n,)
        The fractional point, before scaling.
    rng : numpy.random.Generator
    factor : float
        G.
    attempts : int

    Raises
    ------
    ValueError
        If factor or attempts is out of its range.
    """
    check_attempts(factor, attempts)
    scaled = factor * np.asarray(x, dtype=float)
    parts = []
    for begin in range(0, attempts, _BATCH):
        candidates = round_at_random(scaled, min(_BATCH, attempts - begin), rng)
        parts.append(_judge(program, candidates))
    return _summary(program, x, *(np.concatenate(column) for column in zip(*parts, strict=True)))


def report(program: MixedProgram, x: npt.ArrayLike, candidates: Ints) -> BicriteriaReport:
    """Return the report on given candidates, shape (attempts, n)."""
    return _summary(program, x, *_judge(program, candidates))


def _judge(program: MixedProgram, candidates: Ints) -> tuple[Floats, Floats, Floats]:
    """Return each candidate's least coverage, largest use of a limit, and cost."""
    points = candidates.astype(float)
    covered = (points @ program.covering.T / program.needs).min(axis=1, initial=math.inf)
    used = (points @ program.packing.T / program.limits).max(axis=1, initial=0.0)
    return covered, used, points @ program.cost


def _summary(
    program: MixedProgram, x: npt.ArrayLike, covered: Floats, used: Floats, cost: Floats
) -> BicriteriaReport:
    covers, packs = covered >= 1 - TOLERANCE, used <= 1 + TOLERANCE
    both = covers & packs
    coverage = np.minimum(1.0, covered)
    base = float(np.asarray(x, dtype=float) @ program.cost)
    ratio: Any = cost / base if base > 0 else np.ones(len(cost))
    return BicriteriaReport(
        attempts=len(cost),
        covers=float(covers.mean()),
        packs=float(packs.mean()),
        both=float(both.mean()),
        coverage=float(coverage.mean()),
        least_coverage=float(coverage.min()),
        overload=float(used.mean()),
        largest_overload=float(used.max()),
        cost_ratio=float(ratio.mean()),
        feasible_cost_ratio=float(ratio[both].mean()) if both.any() else None,
    )
