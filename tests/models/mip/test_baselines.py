"""Heuristics of any model say in a sentence why they have no solution."""

import numpy as np
import pytest

import gadgetopt
from gadgetopt.models.mip.subproblems.points import Points
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

PARITY = "instances/mip/tiny/parity.lp"
#: Models that have no solution, or no least one, and what is said of them.
FILES = {
    "none": ("a: x + y >= 3", "Binary\n x y", "the relaxation has no solution"),
    "endless": ("a: x + y >= -3", "Bounds\n x free", "the relaxation is unbounded"),
}


@pytest.mark.parametrize("method", ["round_lp", "feasibility_pump", "rins"])
@pytest.mark.parametrize("name", FILES)
def test_a_relaxation_without_an_optimum_is_named(method, name, tmp_path):
    row, rest, expected = FILES[name]
    file = tmp_path / f"{name}.lp"
    file.write_text(f"Minimize\n cost: x\nSubject To\n {row}\n{rest}\nEnd\n")
    assert remark(file, method) == expected


@pytest.mark.parametrize("method", ["round_lp", "feasibility_pump:rounds=3", "rins"])
def test_integers_without_a_point_are_named(method):
    assert remark(PARITY, method) == "no exact point with the rounded integers was found"


def test_so_is_the_time_that_is_up():
    points = Points(gadgetopt.read(PARITY).data, Clock(Limits(time_s=0.0)))
    assert points.relaxed() is None
    assert points.outcome().notes["remark"] == "the relaxation was not solved in the time"
    points.offer(np.zeros(2))
    assert points.remark == "no exact point with the rounded integers was found in the time"


@pytest.mark.parametrize("method", ["round_lp", "feasibility_pump", "rins"])
def test_a_solution_needs_no_remark(method):
    result = gadgetopt.solve("instances/mip/tiny/mixed.lp", method)
    assert result.objective is not None
    assert "remark" not in result.notes


def remark(file, method):
    result = gadgetopt.solve(file, method)
    assert result.status.value == "no_solution"
    return result.notes["remark"]
