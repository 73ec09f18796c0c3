"""The benchmark of how methods grow has a row of every system, and every row can be drawn."""

import importlib.util
import sys
from pathlib import Path

import pytest

from gadgetopt.system.methods import find_method
from gadgetopt.system.registry import problem, problem_names

spec = importlib.util.spec_from_file_location(
    "slopes", Path(__file__).parents[2] / "benchmarks/slopes.py"
)
slopes = importlib.util.module_from_spec(spec)
sys.modules["slopes"] = slopes  # its data classes look themselves up
spec.loader.exec_module(slopes)


def test_every_system_has_a_row():
    assert {row.system for row in slopes.GROWTHS} == set(problem_names())


@pytest.mark.parametrize("row", slopes.GROWTHS, ids=lambda row: f"{row.system}-{row.preset}")
def test_instances_grow_as_a_row_says(row):
    sizes = []
    for size in (row.first, 2 * row.first):
        instance = slopes.drawn(row, size)
        sizes.append(len(instance.model_dump_json()))
    assert sizes[0] <= sizes[1]
    assert all(find_method(problem(row.system), method) for method in row.methods)


def test_a_method_that_takes_the_square_has_slope_two():
    points = [(n, (n / 10) ** 2, "") for n in (1, 10, 20, 40)]
    assert slopes.slope(points) == pytest.approx(2)


def test_a_run_that_its_limit_ended_is_no_point_of_a_slope():
    assert slopes.slope([(10, 1.0, ""), (20, 2.0, ""), (40, 2.0, "time_s")]) == pytest.approx(1)
