"""Primal-dual gaps and integrals, computed by hand."""

import math
from fractions import Fraction

import pytest

from gadgetopt.reporting.integrals import integral_of, primal_dual_gap, primal_dual_integral
from gadgetopt.system.result import Status, TracePoint

from .entries_of import LIMIT_S, result, table


@pytest.mark.parametrize(
    ("incumbent", "bound", "gap"),
    [
        (10, 8, 0.2),
        (8, 10, 0.2),  # of a maximisation
        (-8, -10, 0.2),
        (0, 0, 0.0),
        (0, -5, 1.0),
        (5, 0, 1.0),
        (3, -3, 1.0),  # signs differ
        (Fraction(1, 3), Fraction(1, 3), 0.0),
        (9.0000000001, 9, 0.0),  # equal to tolerance
        (None, 3, 1.0),
        (3, None, 1.0),
        (3, -math.inf, 1.0),
    ],
)
def test_the_gap_is_a_part_of_the_larger_number(incumbent, bound, gap):
    assert primal_dual_gap(incumbent, bound) == pytest.approx(gap)


#: Nothing for 2 s, then a gap of 1/2 for 3 s, of 1/10 for 4 s, then none.
TRACE = (TracePoint(2, 10, 5), TracePoint(5, 10, 9), TracePoint(9, 9, 9))
AREA = 2 + 3 / 2 + 4 / 10


def test_the_integral_is_the_area_below_the_gap():
    assert primal_dual_integral(TRACE, 9) == pytest.approx(AREA)
    assert primal_dual_integral(TRACE, 100) == pytest.approx(AREA)
    assert primal_dual_integral(TRACE, 4) == pytest.approx(2 + 2 / 2)
    assert primal_dual_integral(TRACE[::-1], 9) == pytest.approx(AREA)
    assert primal_dual_integral((), 7) == 7


def integral(*args, limits=None, **kwargs):
    (entry,) = table([result("a", "m", *args, **kwargs)], limits=limits)
    return integral_of(entry)


def test_what_a_run_leaves_open_counts_until_its_limit():
    assert integral(objective=9, bound=9, time_s=9, trace=TRACE) == pytest.approx(AREA)
    open_gap = integral(objective=10, bound=9, time_s=9, trace=TRACE[:2])
    assert open_gap == pytest.approx(2 + 3 / 2 + (LIMIT_S - 5) / 10)
    assert integral(time_s=3) == LIMIT_S  # no solution
    # What was checked at the end counts, not what the run said of it.
    worse = integral(objective=18, bound=9, time_s=9, trace=TRACE)
    assert worse == pytest.approx(AREA + (LIMIT_S - 9) / 2)


def test_a_proof_of_infeasibility_leaves_nothing_open():
    assert integral(status=Status.INFEASIBLE, time_s=4) == pytest.approx(4)


def test_a_trace_that_was_not_read_gives_no_integral():
    assert integral(objective=9, bound=9, time_s=9) is None
