"""Conversion of a solver's outcome to a method's outcome."""

import math
from fractions import Fraction

import pytest

from gadgetopt.errors import SolverError
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.system.result import MethodOutcome, Status, TracePoint


def solved(**fields):
    return SolverOutcome(
        **{
            "status": Status.FEASIBLE,
            "objective": 30,
            "bound": 45,
            "limit_hit": "time_s",
            "trace": (TracePoint(0.5, 30, math.inf), TracePoint(1.0, 30, 45)),
            "phases_s": {"solve": 1.0},
            "versions": {"highspy": "1"},
            **fields,
        }
    )


def test_a_failed_solver_is_an_error():
    with pytest.raises(SolverError, match="out of memory"):
        MethodOutcome.of(solved(status=Status.ERROR, reason="out of memory"))


def test_everything_a_solver_reports_arrives():
    outcome = MethodOutcome.of(solved(), phases_s={"build": 0.25}, notes={"columns": 3})
    assert outcome.dual_bound == 45
    assert outcome.limit_hit == "time_s"
    assert outcome.trace == (TracePoint(0.5, 30, None), TracePoint(1.0, 30, 45))
    assert outcome.phases_s == {"build": 0.25, "solve": 1.0}
    assert outcome.versions == {"highspy": "1"}
    assert outcome.notes == {"columns": 3}


def test_a_scaled_model_is_read_on_the_problems_scale():
    outcome = MethodOutcome.of(solved(), scale=10)
    assert outcome.dual_bound == 4.5
    assert outcome.trace[1] == TracePoint(1.0, 3.0, 4.5)
    corrected = MethodOutcome.of(solved(), scale=10, bound_of=lambda b: Fraction(b + 1, 10))
    assert corrected.dual_bound == Fraction(46, 10)
    assert corrected.trace[1] == TracePoint(1.0, 3.0, Fraction(46, 10))


def test_no_bound_is_no_bound():
    for bound in (None, math.inf):
        assert MethodOutcome.of(solved(bound=bound), scale=10).dual_bound is None
