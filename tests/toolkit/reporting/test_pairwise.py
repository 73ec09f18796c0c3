"""Each two methods compared instance by instance."""

import json
import math

import pytest

from gadgetopt import InputError
from gadgetopt.reporting.pairwise import pairwise_tests

from .entries_of import result, table

pytestmark = pytest.mark.usefixtures("in_this_process")


def rows(entries, measure="objective", **only):
    return pairwise_tests(entries, measure, **only).to_dict("records")


def runs(method, objectives, system="sjf_bco", **more):
    return [
        result(f"i{k}", method, objective=x, system=system, **more)
        for k, x in enumerate(objectives)
    ]


def test_the_better_of_two_is_told_with_its_p_value():
    entries = table(runs("good", [10, 20, 30, 40, 50, 60]) + runs("bad", [11, 24, 39, 56, 75, 96]))
    (row,) = rows(entries)
    assert (row["method"], row["other"], row["instances"]) == ("good", "bad", 6)
    assert (row["better"], row["worse"], row["equal"]) == (6, 0, 0)
    assert row["p"] == row["p_holm"] == pytest.approx(2 / 64)
    # (30 - 39) / 39 and (40 - 56) / 56 are in the middle.
    assert row["median_difference"] == pytest.approx((-9 / 39 - 16 / 56) / 2)


def test_a_maximised_objective_is_better_the_larger():
    entries = table(runs("a", [3, 4], "knapsack") + runs("b", [2, 5], "knapsack"))
    (row,) = rows(entries)
    assert (row["better"], row["worse"]) == (1, 1)
    assert row["median_difference"] == pytest.approx((-1 / 3 + 1 / 5) / 2)


def test_three_methods_are_three_tests_and_corrected_as_three():
    values = [10, 20, 30, 40, 50, 60, 70]
    entries = table(
        runs("a", values)
        + runs("b", [x + k + 1 for k, x in enumerate(values)])
        + runs("c", [x - k - 2 for k, x in enumerate(values)])
    )
    found = rows(entries)
    assert [(r["method"], r["other"]) for r in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [r["p"] for r in found] == pytest.approx([2 / 128] * 3)
    assert [r["p_holm"] for r in found] == pytest.approx([6 / 128] * 3)


def test_a_method_without_a_solution_is_worse_and_two_without_are_equal():
    entries = table(runs("a", [10, None, None, 30]) + runs("b", [12, 99, None, 30]), limits=None)
    (row,) = rows(entries)
    assert (row["better"], row["worse"], row["equal"]) == (1, 1, 2)


def test_only_instances_of_both_count_and_a_method_of_bounds_has_no_test():
    entries = table(
        runs("a", [10, 20, 30])
        + runs("b", [11, 21])
        + [result("i0", "bound", "relaxation", bound=9)]
    )
    (row,) = rows(entries)
    assert (row["other"], row["instances"]) == ("b", 2)


def test_times_are_compared_as_logarithms():
    entries = table(runs("slow", [10] * 6, time_s=9.0) + runs("fast", [10] * 6, time_s=0.0))
    (row,) = rows(entries, "time")
    assert (row["better"], row["worse"]) == (0, 6)
    assert row["median_difference"] == pytest.approx(math.log(10))
    assert rows(entries)[0]["p"] == 1.0


def test_each_system_is_a_family_of_tests_of_its_own():
    entries = table(
        runs("a", [1, 2, 3]) + runs("b", [2, 3, 4]) + runs("a", [1, 2], "knapsack")
        + runs("b", [3, 3], "knapsack")
    )  # fmt: skip
    assert [(r["system"], r["instances"]) for r in rows(entries)] == [
        ("sjf_bco", 3),
        ("knapsack", 2),
    ]
    assert len(rows(entries, systems=("knapsack",))) == 1


def test_the_command_prints_them_and_refuses_what_it_cannot(cli, tiny, tmp_path):
    store = tmp_path / "runs.sqlite"
    cli("compare", tiny, "--methods", "first_fit,list_scheduling,lpt_ils", "--store", store,
        "--workers", "0", "--json")  # fmt: skip
    code, out, _ = cli("summary", store, "--tests", "objective")
    assert code == 0
    assert "p Holm" in out
    assert "Wilcoxon" in out
    code, out, _ = cli("summary", store, "--tests", "time", "--format", "json")
    assert len(json.loads(out)) == 3
    code, _, err = cli("summary", store, "--tests", "speed")
    assert (code, err) == (2, "gadgetopt: --tests: 'speed' is not one of objective, time\n")
    code, _, err = cli("summary", store, "--tests", "time", "--by", "preset")
    assert code == 2
    assert err.startswith("gadgetopt: --tests: compares methods over all instances, expected only")
    code, out, _ = cli("summary", store, "--intervals", "--methods", "first_fit,lpt_ils")
    assert code == 0
    assert "95 %" in out


def test_a_wrong_measure_is_refused():
    with pytest.raises(InputError, match="'gap' is not one of objective, time"):
        pairwise_tests([], "gap")
