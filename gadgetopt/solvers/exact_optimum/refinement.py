r"""The optimum of a linear program in rational numbers, from the basis in which HiGHS ends.

The basis names a vertex and duals, which are solved exactly (`gadgetopt.numbers.exact_vertex`) and
put into the exact model: if they satisfy every row, bound and sign, they are an optimum and its
proof, and nothing of the solver is believed. A basis that is optimal only within the solver's
tolerances is repaired by iterative refinement (Gleixner, Steffy, Wolter, INFORMS J. Computing
2016): with :math:`x^*, y^*` the vertex and :math:`d = c - y^* A`, HiGHS solves

.. math::
    \min\ 2^q\,(d z + y^* s) \qquad s = A z, \quad
    2^p\,(l - x^*) \le z \le 2^p\,(u - x^*), \quad 2^p\,(L - A x^*) \le s \le 2^p\,(U - A x^*),

the same program around the vertex, from the same basis. Sides and costs are computed exactly and
rounded once. With :math:`2^p` and :math:`2^q` the inverse of the largest violation, what was below
the solver's tolerance is of size 1, and the next basis is nearer to optimal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array, hstack

from gadgetopt.errors import SolverError
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.exact_vertex import Integers, integers
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.exact_form import ExactReader
from gadgetopt.solvers.exact_optimum.program import (
    ExactLp,
    Faults,
    Places,
    Point,
    Sides,
    exact_lp,
    faults,
)
from gadgetopt.solvers.persistent import PersistentLp
from gadgetopt.solvers.scaling import scaling_of
from gadgetopt.system.result import Status

if TYPE_CHECKING:
    from gadgetopt.solvers.standard_form import StandardForm

#: Most bases that are tried. Tuned: `benchmarks/constants.py`.
MOST_ROUNDS = 30
#: HiGHS's tolerances for refined programs. Tuned: `benchmarks/constants.py`.
TOLERANCE = 1e-9
#: Largest exponent of the power of 2 by which a refined program is scaled.
#: Tuned: `benchmarks/constants.py`.
MOST_EXPONENT = 800
#: Refined sides and costs beyond this are taken for infinite, or for this large. By definition.
FAR = 1e19


@dataclass(frozen=True)
class ExactOptimum:
    """An optimal vertex and its duals in rational numbers.

    Attributes
    ----------
    values : list of Fraction
        Of the columns of the form.
    duals : list of Fraction
        Of its rows, in the model's own sense, as `SolverOutcome.row_duals`.
    objective : Fraction
        Of both.
    rounds : int
        Bases that were tried; 1 if the solver's own was optimal.
    """

    values: list[Fraction]
    duals: list[Fraction]
    objective: Fraction
    rounds: int


def exact_optimum(
    form: StandardForm, basis: tuple[Sequence[int], Sequence[int]], clock: Clock
) -> ExactOptimum | None:
    """Return the optimum of a model without integer columns; None if it is not reached.

    Parameters
    ----------
    form : StandardForm
    basis : tuple
        Where the solver has columns and rows: -1 at the lower side, 0 basic, 1 at the upper.
    clock : Clock
        When the time is up, nothing is returned.
    """
    lp = None if clock.expired else exact_lp(form)
    if lp is None:
        return None
    refinement = None
    places = Places(*map(np.array, basis))
    for rounds in range(1, MOST_ROUNDS + 1):
        point = None if clock.expired else lp.vertex(places)
        if point is None:
            return None
        wrong = faults(lp, point)
        if wrong.none:
            return _optimum(form, lp, point, rounds)
        if refinement is None:
            refinement = _Refinement(form, lp, places)
        better = refinement.next_places(point, wrong, clock)
        if better is None:
            return None
        places = better
    return None


def _optimum(form: StandardForm, lp: ExactLp, point: Point, rounds: int) -> ExactOptimum:
    """Return a point in the model's own units."""
    denominator = point.denominator * lp.unit
    worth = point.dual_denominator * lp.cost_unit
    cost = sum(a * x for a, x in zip(lp.costs.tolist(), point.values.tolist(), strict=True) if a)
    zero = Fraction(0)
    duals = zip(point.duals.tolist(), lp.row_units, strict=True)
    return ExactOptimum(
        [Fraction(x, denominator) if x else zero for x in point.values.tolist()],
        [Fraction(y * unit, worth) if y else zero for y, unit in duals],
        Fraction(cost, denominator * lp.cost_unit) + ExactReader(form).offset(),
        rounds,
    )


class _Refinement:
    """The program around a vertex, with a column s = A z for every row; see the module.

    It stays in HiGHS: only sides and costs change from vertex to vertex.
    """

    def __init__(self, form: StandardForm, lp: ExactLp, places: Places) -> None:
        columns, rows = len(form.columns), len(form.rows)
        self._lp = lp
        self._p = self._q = 0
        self._units = integers([1] * columns + lp.row_units)
        # HiGHS drops tiny coefficients: rows are scaled, and so are the columns s.
        scales = scaling_of(form).rows
        self._scales: Floats = np.concatenate((np.ones(columns), scales))
        self._refined = PersistentLp(
            "min", primal_feasibility_tolerance=TOLERANCE, dual_feasibility_tolerance=TOLERANCE
        )
        nothing = np.zeros(columns + rows)
        self._refined.add_columns(nothing, nothing, nothing)
        matrix = csr_array(hstack([diags_array(1 / scales) @ form.A, -eye_array(rows)]))
        none = np.zeros(rows)
        self._refined.add_rows(none, none, matrix.indptr[:-1], matrix.indices, matrix.data)
        self._refined.start_from([*places.columns.tolist(), *places.rows.tolist()], [-1] * rows)

    def next_places(self, point: Point, wrong: Faults, clock: Clock) -> Places | None:
        """Return the basis in which HiGHS ends around the vertex of the last; None if in none."""
        lp, columns = self._lp, len(self._lp.costs)
        units = self._units * (point.denominator * lp.unit)
        x = np.concatenate((point.values, point.activities))
        self._p = _exponent(np.concatenate((wrong.columns, wrong.rows)), units, self._p)
        lower, upper = (
            np.where(
                np.concatenate((of_columns.known, of_rows.known)),
                self._side(of_columns, of_rows, point.denominator, x, units),
                missing,
            )
            for of_columns, of_rows, missing in (
                (lp.col_low, lp.low, -math.inf),
                (lp.col_high, lp.high, math.inf),
            )
        )
        every = np.arange(len(units))
        self._refined.change_column_bounds(
            every,
            np.where(lower < -FAR, -math.inf, np.minimum(lower, FAR)),
            np.where(upper > FAR, math.inf, np.maximum(upper, -FAR)),
        )
        slope_units = integers([point.dual_denominator * abs(lp.cost_unit)] * len(units))
        slopes = np.concatenate((point.reduced, point.duals)) * self._units
        bad = np.concatenate((wrong.reduced, wrong.duals)) * self._units
        self._q = _exponent(bad, slope_units, self._q)
        costs = _doubles(slopes, slope_units, self._q) * self._scales
        self._refined.change_costs(every, np.clip(costs, -FAR, FAR))
        try:
            status = self._refined.solve(clock.limits())
        except SolverError:
            return None
        if status is not Status.OPTIMAL:
            return None
        found, logicals = map(np.array, self._refined.basis)
        # A row's own column -s may be basic in place of s.
        rows = np.where(logicals == 0, 0, found[columns:])
        return Places(found[:columns], rows)

    def _side(
        self, of_columns: Sides, of_rows: Sides, denominator: int, x: Integers, units: Integers
    ) -> Floats:
        sides = np.concatenate((of_columns.numbers, of_rows.numbers)) * denominator
        return _doubles(sides - x, units, self._p) / self._scales


def _exponent(sizes: Integers, units: Integers, otherwise: int) -> int:
    """Return the power of 2 that brings the largest of numbers to about 1."""
    wrong = np.flatnonzero(sizes)
    if not wrong.size:
        return otherwise
    pairs = zip(sizes[wrong].tolist(), units[wrong].tolist(), strict=True)
    largest = max(Fraction(p, q) for p, q in pairs)
    exponent = largest.denominator.bit_length() - largest.numerator.bit_length()
    return max(-MOST_EXPONENT, min(MOST_EXPONENT, exponent))


def _doubles(numerators: Integers, denominators: Integers, exponent: int) -> Floats:
    """Return quotients times a power of 2, each rounded once."""
    up, down = max(exponent, 0), max(-exponent, 0)

    def rounded(p: int, q: int) -> float:
        try:
            return (p << up) / (q << down)
        except OverflowError:
            return math.inf if p > 0 else -math.inf

    pairs = zip(numerators.tolist(), denominators.tolist(), strict=True)
    return np.array([rounded(p, q) if p else 0.0 for p, q in pairs])
