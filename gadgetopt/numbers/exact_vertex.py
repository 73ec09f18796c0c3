r"""The vertex of a linear program that a basis names, in rational numbers.

A solver ends with a basis and with values in floating point. The basis alone determines the vertex:
its rows are tight, its columns are free, and a square system of linear equations gives the values
of the columns, the transposed one the duals of the rows. Both are solved exactly here, by iterative
refinement: one LU factorisation in floating point, residuals in integers, and every pass adds
digits to the solution in base :math:`2^k`, until rational numbers of small denominator are
recognised. These are then put into the equations, so nothing of the factorisation is trusted.
(Wan, J. Symbolic Computation 2006; Gleixner, Steffy, Wolter, INFORMS J. Computing 2016.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

Integers = npt.NDArray[np.object_]
#: A sparse vector.
Entries = Mapping[int, Fraction | int]

#: Binary digits of the first attempt to recognise rational numbers; doubled until `MOST_DIGITS`.
FIRST_DIGITS = 64
MOST_DIGITS = 2**12
#: Binary digits that a pass adds, and the fewest with which refinement goes on.
MOST_SHIFT = 40
LEAST_SHIFT = 6
#: A number within 2**-NEAR of a multiple of 1/denominator is read as that multiple.
NEAR = 20
#: Most binary digits of a residual, which has to be read as a double.
MOST_BITS = 1000


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
    transposed: list[dict[int, Fraction]] = []
    for j, name in enumerate(names):
        kept = {position[i]: Fraction(a) for i, a in columns[name].items() if i in position and a}
        transposed.append(kept)
        for i, a in kept.items():
            matrix[i][j] = a
    values = solve_exactly(matrix, [Fraction(sides[i]) for i in tight])
    duals = solve_exactly(transposed, [Fraction(costs.get(name, 0)) for name in names])
    if values is None or duals is None:
        return None
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
    if not right:
        return []
    if not all(matrix):
        return None
    try:
        system = _System(matrix, right)
    except RuntimeError:  # SuperLU: the matrix is singular
        return None
    digits = FIRST_DIGITS
    while digits <= MOST_DIGITS:
        if not system.refine(digits):
            return None
        found = system.read()
        if found is not None:
            return found
        digits *= 2
    return None


class _System:
    """Equations with integer coefficients, and an approximate solution `x / 2**digits`.

    Attributes
    ----------
    starts, columns, data : ndarray
        The rows one after the other: where each begins, its columns, its coefficients.
    right : ndarray of int, shape (n,)
    weights : ndarray of float, shape (n,)
        Powers of 2 by which the factorised rows were scaled.
    factors : SuperLU
    """

    def __init__(self, matrix: Sequence[Mapping[int, Fraction]], right: Sequence[Fraction]) -> None:
        """Scale every row to integers and factorise; raise `RuntimeError` if that is singular."""
        starts, columns, scaled, weights = [0], [], [], []
        data: list[int] = []
        for row, b in zip(matrix, right, strict=True):
            unit = math.lcm(b.denominator, *(a.denominator for a in row.values()))
            entries = [int(a * unit) for a in row.values()]
            columns += list(row)
            data += entries
            scaled.append(int(b * unit))
            weights.append(math.ldexp(1.0, -max(map(abs, entries)).bit_length()))
            starts.append(len(columns))
        n, lengths = len(right), np.diff(starts)
        self.starts, self.columns = np.array(starts[:-1]), np.array(columns)
        self.data, self.right = _integers(data), _integers(scaled)
        self.row_sum = _largest(np.add.reduceat(abs(self.data), self.starts))
        self.weights = np.array(weights)
        floats = np.array(data, dtype=float) * np.repeat(self.weights, lengths)
        rows = np.repeat(np.arange(n), lengths)
        self.factors = splu(csc_array((floats, (rows, self.columns)), shape=(n, n)))
        self.residual = self.right
        self.x = _integers([0] * n)
        self.digits, self.shift = 0, MOST_SHIFT

    def product(self, x: Integers) -> Integers:
        """Return the matrix times integers."""
        return np.add.reduceat(self.data * x[self.columns], self.starts)

    def refine(self, digits: int) -> bool:
        """Add binary digits to the solution; return False if residuals do not stay small."""
        while self.digits < digits:
            size = _largest(self.residual)
            if size.bit_length() > MOST_BITS:
                return False
            solved = self.factors.solve(self.residual.astype(float) * self.weights)
            if not np.isfinite(solved).all():
                return False
            step = _integers([round(math.ldexp(z, self.shift)) for z in solved.tolist()])
            residual = self.residual * (1 << self.shift) - self.product(step)
            # Rounding the step alone leaves residuals of up to half a row's sum.
            if self.digits and _largest(residual) > max(size, 2 * self.row_sum):
                self.shift //= 2  # these digits were not all right: take fewer at a time
                if self.shift < LEAST_SHIFT:
                    return False
                continue
            self.x = self.x * (1 << self.shift) + step
            self.residual = residual
            self.digits += self.shift
        return True

    def read(self) -> list[Fraction] | None:
        """Return the solution as rational numbers if they satisfy the equations."""
        scale = 1 << self.digits
        largest = 1 << (self.digits // 2 - 4)
        near = scale >> NEAR
        denominator = 1
        for x in self.x.tolist():
            over = x * denominator
            if (over + near) % scale > 2 * near:
                denominator *= Fraction(over, scale).limit_denominator(largest).denominator
                if denominator > largest:
                    return None
        read = [(2 * x * denominator + scale) // (2 * scale) for x in self.x.tolist()]
        if (self.product(_integers(read)) != self.right * denominator).any():
            return None
        return [Fraction(p, denominator) for p in read]


def _integers(numbers: list[int]) -> Integers:
    out = np.empty(len(numbers), dtype=object)
    out[:] = numbers
    return out


def _largest(numbers: Integers) -> int:
    return int(max(map(abs, numbers.tolist())))
