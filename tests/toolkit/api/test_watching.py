"""What is seen and heard of a solve: its log, and a function of the user's."""

import logging
from itertools import pairwise

import pytest

import gadgetopt
from gadgetopt import InputError
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve

#: A heuristic, two decompositions, a search, a formulation with each solver, a model that is
#: CP-SAT's own, and searches by moves and of learned policies: quickstart instance and method.
WATCHED = [
    ("sjf_bco", "lpt_ils"),
    ("a_srpt", "decomposition"),
    ("adversarial_online_policy", "double_oracle"),
    ("adversarial_online_run", "offline"),
    ("adversarial_online_run", "packing@highs"),
    ("adversarial_online_run", "packing@cpsat"),
    ("parallel_machines", "cp_cumulative"),
    ("oneflow_sbp", "auto_parallel"),
    ("oneflow_sbp", "neighbourhoods"),
    ("bgl_cache", "order_moves"),
    ("marl_placement", "local_search"),
    ("marl_placement", "learned_sampled"),
    ("marl_placement", "learned_lookahead"),
]

HEAD = ["time", "incumbent", "bound", "gap"]


@pytest.fixture
def quickstart(root):
    return lambda name: gadgetopt.read(root / "instances" / "quickstart" / f"{name}.json")


@pytest.fixture
def e2(tiny):
    return gadgetopt.read(tiny / "e2_contention_pays.json")


@pytest.mark.parametrize(("name", "method"), WATCHED)
def test_what_is_told_is_what_the_result_traces(quickstart, name, method):
    told = []
    result = solve(quickstart(name), method, Limits(time_s=5), tell=told.append)
    assert told
    traced = {(point.incumbent, point.bound) for point in result.trace}
    assert {(point.incumbent, point.bound) for point in told} <= traced
    assert all(0 <= a.time_s <= b.time_s for a, b in pairwise(told))


def test_incumbents_of_a_relaxation_are_not_told(quickstart):
    told = []
    solve(quickstart("a_srpt"), "pool_templates@highs", tell=told.append)
    solve(quickstart("a_srpt"), "cp_pool", tell=told.append)
    assert {point.incumbent for point in told} == {None}
    assert any(point.bound is not None for point in told)


def test_the_next_solve_is_not_told_to_who_watched_the_last(e2):
    told = []
    solve(e2, "ladder", tell=told.append)
    before = len(told)
    solve(e2, "ladder")
    assert len(told) == before


@pytest.mark.parametrize("method", ["ladder", "time_indexed@highs", "cp_e", "lpt_ils"])
def test_on_incumbent_hears_of_better_objectives_and_last_of_the_result(e2, method):
    heard = []
    result = gadgetopt.solve(e2, method, on_incumbent=lambda *told: heard.append(told))
    found = [incumbent for _, incumbent, _ in heard]
    assert found == sorted(set(found), reverse=True)
    assert found[-1] == result.objective
    assert all(time_s >= 0 for time_s, _, _ in heard)


def test_a_method_without_events_is_heard_of_at_its_end(e2):
    heard = []
    result = gadgetopt.solve(e2, "first_fit", on_incumbent=lambda *told: heard.append(told))
    assert heard == [(result.time_s, result.objective, None)]


def test_a_function_that_fails_is_not_called_again_and_the_result_stands(e2, caplog):
    calls = []

    def fails(time_s, incumbent, bound):
        calls.append(incumbent)
        raise ValueError("no such figure")

    with caplog.at_level(logging.WARNING, "gadgetopt"):
        result = gadgetopt.solve(e2, "time_indexed@highs", on_incumbent=fails)
    assert (result.status, result.objective) == ("optimal", 3)
    assert len(calls) == 1
    (line,) = caplog.messages
    assert line.startswith("on_incumbent: ValueError: no such figure (")


def test_what_is_no_function_is_refused(e2):
    with pytest.raises(InputError, match="on_incumbent: is of type int, expected a function"):
        gadgetopt.solve(e2, "first_fit", on_incumbent=3)


@pytest.mark.parametrize("method", ["ladder", "time_indexed@highs", "cp_e", "first_fit"])
def test_display_prints_a_head_and_ends_with_the_result(e2, method, capsys):
    result = gadgetopt.solve(e2, method, display=True)
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == HEAD
    assert {len(line) for line in (head, *lines)} == {len(head)}
    bound, gap = ("-", "-") if result.bound is None else (str(result.bound), "0.00%")
    assert lines[-1].split() == [f"{result.time_s:.1f}", "s", "3", bound, gap]


def test_nothing_is_printed_unless_asked(e2, capsys):
    gadgetopt.solve(e2, "ladder")
    assert capsys.readouterr() == ("", "")


def test_a_wrong_method_has_no_head(e2, capsys):
    with pytest.raises(InputError):
        gadgetopt.solve(e2, "no_such_method", display=True)
    assert capsys.readouterr().out == ""
