"""Fractions in Pyomo models."""

import logging
from fractions import Fraction

import pyomo.environ as pyo

from gadgetopt.numbers.pyomo_numbers import coefficient, coefficients, know_fractions


def test_decimals_become_the_fractions_they_denote_and_integers_where_they_are_some():
    assert coefficients([0.1, 3.0, Fraction(6, 2), 0.3333333333333333]) == [
        Fraction(1, 10),
        3,
        3,
        Fraction(3333333333333333, 10**16),
    ]
    assert type(coefficient(3.0)) is int


def test_pyomo_takes_fractions_without_a_warning(caplog):
    know_fractions()
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, Fraction(1, 3)))
    with caplog.at_level(logging.WARNING):
        row = Fraction(1, 7) * m.x + Fraction(1, 9) <= Fraction(2, 3)
    assert Fraction in {type(part) for part in row.args}
    assert not caplog.records
