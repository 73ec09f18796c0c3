"""Criteria that end a run early: no better objective for a while, a target."""

import json
import random
from fractions import Fraction

import pyomo.environ as pyo
import pytest

import gadgetopt
from gadgetopt import InputError
from gadgetopt.runs.rows import run_key
from gadgetopt.search import stopping as module
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.search.stopping import Stopping, current, stopped_early
from gadgetopt.system.methods import find_method
from gadgetopt.system.result import Limits, TracePoint
from gadgetopt.trust.run import solve

#: Far from all that a solve below takes if its criterion ends it.
LONG_S = 60.0


@pytest.fixture
def wait(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "perf_counter", lambda: now[0])

    def passes(seconds):
        now[0] += seconds

    return passes


def found(value):
    return TracePoint(0.0, value, None)


def market_split(rows=5, columns=40, seed=1):
    """Return a model that has solutions at once and whose optimum no solver proves in a minute."""
    rng = random.Random(seed)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(columns), domain=pyo.Binary)
    m.over = pyo.Var(range(rows), domain=pyo.NonNegativeIntegers, bounds=(0, 10**4))
    m.under = pyo.Var(range(rows), domain=pyo.NonNegativeIntegers, bounds=(0, 10**4))
    m.split = pyo.ConstraintList()
    for i in range(rows):
        a = [rng.randrange(100) for _ in range(columns)]
        taken = sum(a[j] * m.x[j] for j in range(columns))
        m.split.add(taken + m.under[i] - m.over[i] == sum(a) // 2)
    m.cost = pyo.Objective(expr=sum(m.over[i] + m.under[i] for i in range(rows)))
    return m


# -- the criteria ----------------------------------------------------------------------------------


def test_a_run_without_an_incumbent_does_not_stall(wait):
    stopping = Stopping(Limits(no_improvement_s=5), "min")
    wait(1000)
    stopping.tell(TracePoint(0.0, None, 7))
    assert stopping.why is None


def test_a_run_stalls_from_its_last_better_incumbent_on(wait):
    stopping = Stopping(Limits(no_improvement_s=5), "min")
    stopping.tell(found(10))
    wait(4)
    stopping.tell(found(9))
    wait(4)
    stopping.tell(found(9))  # as good, and worse: no improvement
    stopping.tell(found(12))
    assert stopping.why is None
    wait(1)
    assert stopping.why == "no_improvement"


@pytest.mark.parametrize(("sense", "short", "there"), [("min", 7, 6), ("max", 5, 6)])
def test_a_target_is_reached_by_it_or_what_is_better(sense, short, there):
    stopping = Stopping(Limits(target=6), sense)
    stopping.tell(found(short))
    assert stopping.why is None
    stopping.tell(found(there))
    assert stopping.why == "target"


def test_a_fraction_reaches_the_target_that_was_written_in_decimals():
    stopping = Stopping(Limits(target=612.738), "min")
    stopping.tell(found(Fraction(612738, 1000)))
    assert stopping.why == "target"


def test_what_is_met_stays_met(wait):
    stopping = Stopping(Limits(no_improvement_s=1), "max")
    stopping.tell(found(1))
    wait(1)
    assert stopping.why == "no_improvement"
    stopping.tell(found(2))
    assert stopping.why == "no_improvement"


def test_clocks_of_the_run_have_no_time_left_and_others_do():
    before = Clock(Limits(time_s=9))
    with stopped_early(Limits(target=3), "min") as stopping:
        inside = Clock(Limits(time_s=9))
        assert inside.left_s > 8
        stopping.tell(found(3))
        for clock in (inside, Clock()):
            assert (clock.left_s, clock.limits().time_s, clock.limit_hit) == (0.0, 0.0, "target")
    assert before.left_s > 8
    assert Clock().limit_hit is None


def test_a_run_within_a_run_ends_with_it_and_has_no_criteria_of_its_own():
    one, other = Limits(target=3), Limits(target=3)
    with stopped_early(one, "min") as outer, stopped_early(other, "max") as inner:
        assert inner is None
        assert current() is outer


def test_without_criteria_nothing_is_asked():
    with stopped_early(Limits(time_s=1, rel_gap=0.5), "min") as stopping:
        assert stopping is None
        assert current() is None


def test_a_search_that_is_ended_names_the_criterion_and_a_closed_one_does_not():
    limits = Limits(target=5)
    with stopped_early(limits, "min") as stopping:
        search = Search("min", limits)
        search.offer(5, "five")
        stopping.tell(found(5))
        assert search.over
        assert search.outcome(None).limit_hit == "target"
        search.prove(5)
        assert search.outcome(None).limit_hit is None


# -- runs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["highs", "cpsat", "scip"])
def test_a_solver_ends_at_the_target_and_its_bound_is_no_tighter_than_it_is(backend):
    if backend == "scip":
        pytest.importorskip("pyscipopt")
    model = market_split()
    result = gadgetopt.solve(model, f"model@{backend}", time_limit=LONG_S, target=300)
    assert (result.status, result.limit_hit) == ("feasible", "target")
    assert result.bound < result.objective <= 300
    assert result.time_s < LONG_S / 2


@pytest.mark.parametrize("backend", ["highs", "cpsat"])
def test_a_solver_ends_when_it_finds_nothing_better(backend):
    result = gadgetopt.solve(
        market_split(), f"model@{backend}", time_limit=LONG_S, stop_after_no_improvement=0.5
    )
    assert (result.status, result.limit_hit) == ("feasible", "no_improvement")
    assert result.time_s < LONG_S / 2


@pytest.mark.parametrize("method", ["lpt_ils", "ladder", "cp_e"])
def test_a_search_and_a_decomposition_end_at_the_target(root, method):
    file = root / "instances" / "quickstart" / "sjf_bco.json"
    optimum = gadgetopt.solve(file, "ladder").objective
    result = gadgetopt.solve(file, method, time_limit=LONG_S, target=2 * optimum)
    assert result.objective <= 2 * optimum
    assert result.limit_hit == ("target" if result.status == "feasible" else None)


@pytest.mark.parametrize(
    ("system", "method"),
    [
        ("oneflow_sbp", "auto_parallel"),
        ("oneflow_sbp", "neighbourhoods:start=first"),
        ("bgl_cache", "order_moves"),
        ("marl_placement", "local_search"),
        ("marl_placement", "learned_sampled"),
        ("marl_placement", "learned_lookahead"),
    ],
)
def test_searches_by_moves_and_of_learned_policies_end_at_the_target(root, system, method):
    file = root / "instances" / "quickstart" / f"{system}.json"
    first, *_ = gadgetopt.solve(file, method, time_limit=LONG_S).trace
    result = gadgetopt.solve(file, method, time_limit=LONG_S, target=float(first.incumbent))
    assert (result.status, result.limit_hit) == ("feasible", "target")
    assert result.objective <= float(first.incumbent) * (1 + 1e-9)


def test_what_is_closed_is_optimal_whatever_the_target(tiny):
    result = gadgetopt.solve(tiny / "e2_contention_pays.json", "ladder", target=1)
    assert (result.status, result.objective, result.limit_hit) == ("optimal", 3, None)


def test_a_user_s_function_and_the_criteria_hear_of_the_same_incumbents(tiny):
    heard = []
    document = gadgetopt.read(tiny / "e2_contention_pays.json")
    solve(document, "lpt_ils", Limits(time_s=5, target=1000), tell=heard.append)
    assert heard[0].incumbent is not None


def test_bad_criteria_are_refused_by_name(tiny, cli):
    file = tiny / "e2_contention_pays.json"
    with pytest.raises(InputError, match="stop_after_no_improvement: 0 is not a positive number"):
        gadgetopt.solve(file, stop_after_no_improvement=0)
    with pytest.raises(InputError, match="target: nan is not a number"):
        gadgetopt.solve(file, target=float("nan"))
    for option, wrong in (("--stop-after-no-improvement", "-1"), ("--target", "low")):
        code, _, err = cli("solve", file, option, wrong)
        assert code == 2
        assert option in err
        assert wrong in err
        assert len(err.splitlines()) == 1


def test_a_criterion_that_nobody_asked_for_leaves_keys_and_rows_as_they_were(tiny):
    document = gadgetopt.read(tiny / "e2_contention_pays.json")
    limits = Limits(5, 2, 100.0, 0.5)
    assert limits.asked() == {"time_s": 5, "threads": 2, "memory_mb": 100.0, "rel_gap": 0.5}
    call = find_method(document.problem, "first_fit")
    assert run_key("f", call, limits, 0, "c") != run_key(
        "f", call, Limits(5, 2, 100.0, 0.5, target=3.0), 0, "c"
    )


def test_compare_stores_the_criterion_and_says_which_ended_a_run(tiny, tmp_path, cli):
    command = ("compare", tiny / "e2_contention_pays.json", "--methods", "lpt_ils,first_fit")
    store = ("--store", tmp_path / "runs.sqlite", "--json")
    code, out, _ = cli(*command, "--target", "4", "--workers", "0", *store)
    assert code == 0
    hit = {row["method"]: row["limit_hit"] for row in json.loads(out)}
    assert hit == {"lpt_ils": "target", "first_fit": None}
    _, out, _ = cli("summary", tmp_path / "runs.sqlite", "--json")
    assert json.loads(out)
