"""Vertices of linear programs in rational numbers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.numbers.exact_vertex import exact_vertex, solve_exactly
from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.result import Limits, Status

numbers = st.fractions(-5, 5, max_denominator=7)


@st.composite
def systems(draw):
    n = draw(st.integers(1, 6))
    matrix = [
        {j: a for j, a in enumerate(draw(st.lists(numbers, min_size=n, max_size=n))) if a}
        for _ in range(n)
    ]
    return matrix, draw(st.lists(numbers, min_size=n, max_size=n))


@given(systems())
def test_a_solution_satisfies_every_equation(system):
    matrix, right = system
    found = solve_exactly(matrix, right)
    if found is None:  # singular, which floating point tells only up to rounding
        dense = np.zeros((len(matrix), len(matrix)))
        for i, row in enumerate(matrix):
            for j, a in row.items():
                dense[i, j] = float(a)
        assert abs(np.linalg.det(dense)) < 1e-6 or not all(matrix)
        return
    for row, b in zip(matrix, right, strict=True):
        assert sum(a * found[j] for j, a in row.items()) == b


def test_numbers_of_many_digits():
    matrix = [{0: Fraction(10**18 + 1), 1: Fraction(1)}, {0: Fraction(1), 1: Fraction(1, 10**9)}]
    found = solve_exactly(matrix, [Fraction(10**40), Fraction(3)])
    assert found is not None
    assert (10**18 + 1) * found[0] + found[1] == 10**40


@pytest.mark.parametrize(
    "matrix",
    [[{0: Fraction(1), 1: Fraction(2)}, {0: Fraction(2), 1: Fraction(4)}], [{}, {0: Fraction(1)}]],
)
def test_a_singular_matrix_has_no_solution(matrix):
    assert solve_exactly(matrix, [Fraction(1), Fraction(1)]) is None


def test_a_system_too_near_to_singular_for_doubles_is_eliminated():
    n = 20  # the inverse of the Hilbert matrix has entries of up to 28 digits
    matrix = [{j: Fraction(1, i + j + 1) for j in range(n)} for i in range(n)]
    right = [Fraction(i % 3 - 1) for i in range(n)]
    found = solve_exactly(matrix, right)
    assert found is not None
    assert all(x.denominator == 1 for x in found)
    for row, b in zip(matrix, right, strict=True):
        assert sum(a * found[j] for j, a in row.items()) == b


def test_solutions_much_smaller_than_one():
    tiny = Fraction(598, 10**8)
    matrix = [{0: Fraction(1), 1: Fraction(1)}, {0: Fraction(1), 1: Fraction(-1)}]
    assert solve_exactly(matrix, [tiny, Fraction(0)]) == [tiny / 2, tiny / 2]


def test_a_chain_of_five_hundred_thirds():
    n = 500
    matrix = [{i: Fraction(3), **({i - 1: Fraction(-1)} if i else {})} for i in range(n)]
    found = solve_exactly(matrix, [Fraction(1)] * n)
    assert found is not None
    assert found[n - 1] == Fraction(3**n - 1, 2 * 3**n)


def test_the_basis_of_a_solver_gives_the_exact_optimum():
    # max x + y subject to 3x + y <= 1, x + 3y <= 1: x = y = 1/4, duals 1/4.
    lp = PersistentLp("max")
    lp.add_rows([-INFINITY] * 2, [1.0, 1.0], [0, 0], [], [])
    lp.add_columns([1.0, 1.0], [0.0, 0.0], [INFINITY] * 2, [0, 2], [0, 1, 0, 1], [3, 1, 1, 3])
    assert lp.solve(Limits()) is Status.OPTIMAL
    assert lp.basis == ([0, 0], [1, 1])
    columns = {0: {0: 3, 1: 1}, 1: {0: 1, 1: 3}}
    vertex = exact_vertex(columns, {0: 1, 1: 1}, {0: 1, 1: 1})
    assert vertex is not None
    quarter = Fraction(1, 4)
    assert vertex.values == {0: quarter, 1: quarter}
    assert vertex.duals == {0: quarter, 1: quarter}


def test_a_basis_that_is_not_square_has_no_vertex():
    assert exact_vertex({0: {0: 1}}, {0: 1}, {0: 1, 1: 1}) is None


def test_solutions_of_thousands_of_digits_are_found():
    # p x' = q x along a chain: the last value is a product of 130 quotients of 20 binary digits.
    p, q = 1048573, 1048571
    matrix = [{0: Fraction(1)}, *({k: Fraction(p), k - 1: Fraction(-q)} for k in range(1, 131))]
    solved = solve_exactly(matrix, [Fraction(1), *[Fraction(0)] * 130])
    assert solved is not None
    assert solved[-1] == Fraction(q, p) ** 130
    assert solved[-1].denominator.bit_length() > 2500
