"""A run that ended at its gap is feasible and says so; optimal means closed."""

import dataclasses
import json

import pytest
from toy import BEST, DOCUMENT, EMPTY, TOY, method, outcome

from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

pytestmark = pytest.mark.usefixtures("in_this_process")

WIDE = Limits(rel_gap=0.9)


def ended(limits=WIDE, kind="exact", **claims):
    made = dataclasses.replace(method("it", outcome(**claims)), kind=kind)
    system = dataclasses.replace(TOY, methods=(made,))
    result = solve(dataclasses.replace(DOCUMENT, problem=system), "it", limits)
    return result.status, result.limit_hit


def test_an_open_gap_that_was_asked_for_is_the_limit():
    assert ended(solution=BEST, dual_bound=5) == (Status.FEASIBLE, "gap")


def test_an_open_gap_that_no_limit_explains_is_the_method_s_own_doing():
    assert ended(Limits(), solution=BEST, dual_bound=5) == (Status.FEASIBLE, "method")
    assert ended(Limits(rel_gap=0.2), solution=BEST, dual_bound=6) == (Status.FEASIBLE, "method")
    assert ended(Limits(), "heuristic", solution=BEST, dual_bound=5) == (Status.FEASIBLE, None)


def test_what_is_closed_is_optimal_whatever_gap_was_asked_for():
    assert ended(solution=BEST, dual_bound=4) == (Status.OPTIMAL, None)
    assert ended(solution=BEST, dual_bound=4, limit_hit="gap") == (Status.OPTIMAL, None)


def test_another_limit_keeps_its_name():
    assert ended(solution=BEST, dual_bound=5, limit_hit="time_s") == (Status.FEASIBLE, "time_s")


def test_without_a_solution_or_a_bound_there_is_no_gap():
    assert ended(dual_bound=5) == (Status.NO_SOLUTION, None)
    assert ended(solution=EMPTY) == (Status.FEASIBLE, None)


@pytest.mark.parametrize("system", ["sjf_bco", "forest_packing", "knapsack"])
def test_compare_calls_nothing_optimal_that_is_open(cli, root, tmp_path, system):
    store = tmp_path / "s.sqlite"
    path = root / "instances" / "quickstart" / f"{system}.json"
    code, out, _ = cli("compare", path, "--gap", "0.9", "--store", store, "--json")
    assert code == 0
    rows = json.loads(out)
    assert rows
    for row in rows:
        gap = row["gap"]
        if row["status"] == "optimal":
            assert gap < 1e-6
        elif row["kind"] == "exact" and gap is not None and gap <= 0.9:
            assert row["status"] == "feasible"
            assert row["limit_hit"] is not None


def test_a_heuristic_whose_bound_happens_to_be_near_did_not_stop_at_the_gap():
    assert ended(solution=BEST, dual_bound=5, kind="heuristic") == (Status.FEASIBLE, None)
