r"""The vertex of a linear program that a basis names, in rational numbers.

A solver ends with a basis and with values in floating point. The basis alone determines the vertex:
its rows are tight, its columns are free, and a square system of linear equations gives the values
of the columns, the transposed one the duals of the rows. Both are solved exactly here, by iterative
refinement: one LU factorisation in floating point, residuals in integers, and every pass adds
digits to the solution in base :math:`2^k`, until rational numbers of small denominator are
recognised. These are then put into the equations, so nothing of the factorisation is trusted.
(Wan, J. Symbolic Computation 2006; Gleixner, Steffy, Wolter, INFORMS J. Computing 2016.)

Small systems that are too near to singular for doubles are eliminated in integers without
fractions (Bareiss, Mathematics of Computation 1968).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array

from gadgetopt.numbers.arrays import Floats, Ints

Integers = npt.NDArray[np.object_]
#: A sparse vector.
Entries = Mapping[int, Fraction | int]

#: Binary digits of the first attempt to recognise rational numbers; doubled until `MOST_DIGITS`.
#: Tuned: `benchmarks/constants.py`.
FIRST_DIGITS = 64
MOST_DIGITS = 2**13
#: Binary digits that a pass adds, and the fewest with which refinement goes on.
#: Tuned: `benchmarks/constants.py`.
MOST_SHIFT = 40
LEAST_SHIFT = 6
#: With n binary digits, denominators are less than 2**(n / 2 - SPARE), and a number within
#: 2**-(n / 2 - 2 SPARE) of a multiple of 1/denominator is read as that multiple.
#: Tuned: `benchmarks/constants.py`.
SPARE = 4
#: Most binary digits of a residual, which has to be read as a double.
#: Tuned: `benchmarks/constants.py`.
MOST_BITS = 1000
#: Most equations that are eliminated in integers where refinement fails.
#: Tuned: `benchmarks/constants.py`.
MOST_ELIMINATED = 60


@dataclass(frozen=True)
class ExactVertex:
    """Values and duals of a basis.

    Attributes
    ----------
    values : dict of int to Fraction
        Of the columns of the basis; all others are at the bound that the caller knows.
    duals : dict of int to Fraction
        Of the tight rows; all others are 0.
    """

    values: dict[int, Fraction]
    duals: dict[int, Fraction]


def exact_vertex(
    columns: Mapping[int, Entries],
    costs: Mapping[int, Fraction | int],
    sides: Mapping[int, Fraction | int],
) -> ExactVertex | None:
    """Return the vertex of a basis; None if its matrix is not square or not safely invertible.

    Parameters
    ----------
    columns : mapping
        The basic columns: coefficients by row. Other rows than the tight ones may occur.
    costs : mapping
        Costs of the basic columns, 0 where left out.
    sides : mapping
        The tight rows and the side that each is at, less what columns at nonzero bounds take.

    Notes
    -----
    Whether the vertex is feasible and the duals are, is for the caller to see.
    """
    if len(columns) != len(sides):
        return None
    names, tight = list(columns), list(sides)
    position = {i: k for k, i in enumerate(tight)}
    matrix: list[dict[int, Fraction]] = [{} for _ in tight]
    for j, name in enumerate(names):
        for i, a in columns[name].items():
            if i in position and a:
                matrix[position[i]][j] = Fraction(a)
    right = [Fraction(sides[i]) for i in tight]
    weights = [Fraction(costs.get(name, 0)) for name in names]
    solved = _solved(matrix, right, weights)
    if solved is None:
        return None
    values, duals = solved
    return ExactVertex(dict(zip(names, values, strict=True)), dict(zip(tight, duals, strict=True)))


def solve_exactly(
    matrix: Sequence[Mapping[int, Fraction]], right: Sequence[Fraction]
) -> list[Fraction] | None:
    """Return the solution of square linear equations; None if it is not found or not unique.

    Parameters
    ----------
    matrix : sequence of mappings, length n
        Rows: coefficients by column 0 to n - 1, none of them 0.
    right : sequence of Fraction, length n
    """
    solved = _solved(matrix, right, [Fraction(0)] * len(right))
    return None if solved is None else solved[0]


def _solved(
    matrix: Sequence[Mapping[int, Fraction]],
    right: Sequence[Fraction],
    costs: Sequence[Fraction],
) -> tuple[list[Fraction], list[Fraction]] | None:
    """Return the solutions of `matrix @ x = right` and `y @ matrix = costs`."""
    if not right:
        return [], []
    if not all(matrix):
        return None
    units = [
        math.lcm(b.denominator, *(a.denominator for a in row.values()))
        for row, b in zip(matrix, right, strict=True)
    ]
    starts = np.cumsum([0, *map(len, matrix)])[:-1]
    columns = np.array([j for row in matrix for j in row])
    data = [int(a * unit) for row, unit in zip(matrix, units, strict=True) for a in row.values()]
    system = square_system(starts, columns, integers(data))
    if system is None:
        return None
    scale = math.lcm(*(c.denominator for c in costs))
    x = system.solve(integers([int(b * unit) for b, unit in zip(right, units, strict=True)]))
    y = system.solve(integers([int(c * scale) for c in costs]), transposed=True)
    if x is None or y is None:
        return None
    duals = zip(y[0].tolist(), units, strict=True)
    return (
        [Fraction(p, x[1]) for p in x[0].tolist()],
        [Fraction(p * unit, y[1] * scale) for p, unit in duals],
    )


def square_system(starts: Ints, columns: Ints, data: Integers) -> SquareSystem | None:
    """Return a system of equations in integers; None if its matrix is found to be singular.

    Parameters
    ----------
    starts : ndarray of int, shape (n,)
        Where each row begins; no row is empty.
    columns : ndarray of int, shape (entries,)
        The column of each entry.
    data : ndarray of int, shape (entries,)
        None of them 0.
    """
    n = len(starts)
    if n == 0 or len(np.unique(columns)) < n:
        return None
    system = SquareSystem(starts, columns, data)
    return None if system.factors is None and n > MOST_ELIMINATED else system


class SquareSystem:
    """A square matrix of integers, factorised in floating point.

    Attributes
    ----------
    factors : SuperLU or None
        Of the matrix, with rows and columns scaled by powers of 2; None if that is singular.
    """

    def __init__(self, starts: Ints, columns: Ints, data: Integers) -> None:
        from scipy.sparse.linalg import splu  # a tenth of a second that most solves do without

        n = len(starts)
        rows = np.repeat(np.arange(n), np.diff(np.append(starts, len(columns))))
        self._forwards = _Rows(starts, columns, data)
        order = np.argsort(columns, kind="stable")
        begins = np.searchsorted(columns[order], np.arange(n))
        self._backwards = _Rows(begins, rows[order], data[order])
        sizes = np.array([x.bit_length() for x in data.tolist()])
        row_weights = _powers(-np.maximum.reduceat(sizes, starts))
        floats = _scaled(data, row_weights[rows])
        _, sizes = np.frexp(np.maximum.reduceat(np.abs(floats[order]), begins))
        column_weights = _powers(-sizes)
        floats = floats * column_weights[columns]
        self._weights = row_weights, column_weights
        try:
            self.factors = splu(csc_array((floats, (rows, columns)), shape=(n, n)))
        except RuntimeError:  # SuperLU: the matrix is singular
            self.factors = None

    def solve(self, right: Integers, *, transposed: bool = False) -> tuple[Integers, int] | None:
        """Return the solution as numerators and their denominator; None if it is not found.

        Parameters
        ----------
        right : ndarray of int, shape (n,)
        transposed : bool
            Solve `y @ matrix = right` instead of `matrix @ x = right`.
        """
        matrix = self._backwards if transposed else self._forwards
        if self.factors is not None:
            refined = _Refinement(self, matrix, right, transposed)
            digits = FIRST_DIGITS
            while digits <= MOST_DIGITS and refined.refine(digits):
                found = refined.read()
                if found is not None:
                    return found
                digits *= 2
        if len(right) > MOST_ELIMINATED:
            return None
        return _eliminated(matrix, right)

    def approximate(self, right: Floats, *, transposed: bool) -> Floats:
        """Return the solution in floating point."""
        before, after = self._weights[::-1] if transposed else self._weights
        assert self.factors is not None
        solved = self.factors.solve(right * before, "T" if transposed else "N")
        out: Floats = solved * after
        return out


@dataclass(frozen=True)
class _Rows:
    """The rows one after the other: where each begins, its columns, its coefficients."""

    starts: Ints
    columns: Ints
    data: Integers

    def product(self, x: Integers) -> Integers:
        """Return the matrix times integers."""
        return np.add.reduceat(self.data * x[self.columns], self.starts)


class _Refinement:
    """An approximate solution `x / 2**digits` of equations, and what is left of the right side."""

    def __init__(
        self, system: SquareSystem, matrix: _Rows, right: Integers, transposed: bool
    ) -> None:
        self._system, self._matrix, self._transposed = system, matrix, transposed
        self._right = self._residual = right
        self._row_sum = _largest(np.add.reduceat(abs(matrix.data), matrix.starts))
        self._x = integers([0] * len(right))
        self._digits, self._shift = 0, MOST_SHIFT

    def refine(self, digits: int) -> bool:
        """Add binary digits to the solution; return False if residuals do not stay small."""
        while self._digits < digits:
            size = _largest(self._residual)
            if size.bit_length() > MOST_BITS:
                return False
            solved = self._system.approximate(
                self._residual.astype(float), transposed=self._transposed
            )
            if not np.isfinite(solved).all():
                return False
            step = integers([round(math.ldexp(z, self._shift)) for z in solved.tolist()])
            residual = self._residual * (1 << self._shift) - self._matrix.product(step)
            # Rounding the step alone leaves residuals of up to half a row's sum.
            if self._digits and _largest(residual) > max(size, 2 * self._row_sum):
                self._shift //= 2  # these digits were not all right: take fewer at a time
                if self._shift < LEAST_SHIFT:
                    return False
                continue
            self._x = self._x * (1 << self._shift) + step
            self._residual = residual
            self._digits += self._shift
        return True

    def read(self) -> tuple[Integers, int] | None:
        """Return the solution as rational numbers if they satisfy the equations."""
        scale = 1 << self._digits
        largest = 1 << (self._digits // 2 - SPARE)
        near = scale >> (self._digits // 2 - 2 * SPARE)
        denominator = 1
        for x in self._x.tolist():
            over = x * denominator
            if (over + near) % scale > 2 * near:
                denominator *= Fraction(over, scale).limit_denominator(largest).denominator
                if denominator > largest:
                    return None
        read = integers([(2 * x * denominator + scale) // (2 * scale) for x in self._x.tolist()])
        if (self._matrix.product(read) != self._right * denominator).any():
            return None
        return read, denominator


def _eliminated(matrix: _Rows, right: Integers) -> tuple[Integers, int] | None:
    """Solve equations without fractions: every number stays a minor of the matrix (Bareiss)."""
    n = len(right)
    table = [[0] * n + [b] for b in right.tolist()]
    ends = [*matrix.starts.tolist()[1:], len(matrix.columns)]
    for row, begin, end in zip(table, matrix.starts.tolist(), ends, strict=True):
        for j, a in zip(matrix.columns[begin:end].tolist(), matrix.data[begin:end], strict=True):
            row[j] = a
    previous = 1
    for k in range(n):
        pivot = next((i for i in range(k, n) if table[i][k]), None)
        if pivot is None:
            return None
        table[k], table[pivot] = table[pivot], table[k]
        leader, top = table[k][k], table[k]
        for i in range(n):
            if i != k:
                row, factor = table[i], table[i][k]
                table[i] = [
                    (leader * x - factor * t) // previous for x, t in zip(row, top, strict=True)
                ]
        previous = leader
    sign = -1 if previous < 0 else 1
    return integers([sign * row[n] for row in table]), abs(previous)


def integers(numbers: Sequence[int]) -> Integers:
    """Return an array of Python's integers."""
    out = np.empty(len(numbers), dtype=object)
    out[:] = numbers
    return out


def _powers(exponents: Ints) -> Floats:
    return np.ldexp(1.0, np.clip(exponents, -MOST_BITS, MOST_BITS))


def _scaled(data: Integers, weights: Floats) -> Floats:
    """Return integers of any size times powers of 2, in doubles."""
    if _largest(data).bit_length() <= MOST_BITS:
        return data.astype(float) * weights
    pairs = zip(data.tolist(), weights.tolist(), strict=True)
    return np.array([float(x * Fraction(w)) for x, w in pairs])


def _largest(numbers: Integers) -> int:
    return int(max(map(abs, numbers.tolist())))
