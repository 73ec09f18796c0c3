"""Column generation and the closing program, beyond what an enumeration reaches."""

import numpy as np
import pytest

from gadgetopt.models.marl.placement.data.generate.presets import (
    leaf_spine,
    paper,
    quickstart,
    single_rack,
    single_tasks,
)
from gadgetopt.models.marl.placement.evaluate import evaluate
from gadgetopt.models.marl.placement.proving import content_search
from gadgetopt.models.marl.placement.proving.bounds.column_generation import (
    ColumnGeneration,
    near_optimal,
)
from gadgetopt.models.marl.placement.proving.certificate.check import (
    Closing,
    alone_bound,
    check_bound,
)
from gadgetopt.models.marl.placement.proving.exact import branching
from gadgetopt.models.marl.placement.proving.exact import price_and_close as module
from gadgetopt.models.marl.placement.proving.exact.closing_program import ClosingProgram
from gadgetopt.models.marl.placement.proving.exact.price_and_close import (
    branch_and_price,
    price_and_close,
)
from gadgetopt.models.marl.placement.proving.formulations.patterns import build
from gadgetopt.models.marl.placement.proving.terms import Terms
from gadgetopt.numbers.tolerance import agrees
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits, Status

from ...brute_force import (
    optimum,
    small_instance,
)

LIMITS = Limits(time_s=60)


def solved(instance, limits=LIMITS):
    outcome = price_and_close(instance, limits, np.random.default_rng(0))
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible
    assert evaluation.objective == outcome.claimed_objective
    bound = outcome.dual_bound
    if outcome.certificate is not None:
        bound = check_bound(instance, outcome.certificate)
    assert float(bound) <= float(evaluation.objective) * (1 + 1e-9)
    return evaluation.objective, bound, outcome


@pytest.mark.parametrize(
    ("preset", "seed"), [(quickstart, 8), (quickstart, 5), (leaf_spine, 1), (leaf_spine, 3)]
)
def test_what_is_closed_above_the_relaxation_is_proved(preset, seed, monkeypatch):
    monkeypatch.setattr(module, "PROVE_S", 60.0)
    _, _, outcome = solved(preset(np.random.default_rng(seed)))
    assert isinstance(outcome.certificate.proof, Closing)
    # The certificate's bound takes the place of the solver's.
    assert outcome.dual_bound is None


def test_without_time_for_a_proof_the_bound_is_the_solver_s(monkeypatch):
    monkeypatch.setattr(module, "PROVE_S", 0.0)
    monkeypatch.setattr(module, "PROVE_PART", 0.0)
    value, bound, outcome = solved(quickstart(np.random.default_rng(8)))
    assert outcome.certificate is None
    assert agrees(float(value), float(bound))


@pytest.mark.parametrize("seed", range(3))
def test_it_has_the_optimum_of_f2_with_racks(seed):
    instance = leaf_spine(np.random.default_rng(seed), jobs=8, servers_per_rack=2)
    value, bound, _ = solved(instance)
    assert agrees(float(value), float(bound))
    by_highs = solve_model(build(instance), "highs", LIMITS)
    assert by_highs.status is Status.OPTIMAL
    assert agrees(float(value), by_highs.objective)


@pytest.mark.parametrize("seed", range(3))
def test_pricing_finds_what_enumeration_finds(seed, monkeypatch):
    instance = single_rack(np.random.default_rng(seed), jobs=12, servers=6)
    enumerated = ColumnGeneration(Terms(instance), Clock()).run()
    monkeypatch.setattr(
        "gadgetopt.models.marl.placement.proving.bounds.column_generation.MOST_CONTENTS", 0
    )
    priced = ColumnGeneration(Terms(instance), Clock())
    done = priced.run()
    assert priced.rounds > 2
    assert done.value == pytest.approx(enumerated.value, rel=1e-7)
    assert done.bound == pytest.approx(done.value, rel=1e-7)


def test_racks_that_fold_cost_nothing_and_racks_that_do_not_are_paid_for():
    """Folded, the program is a relaxation; with racks it is the problem."""
    instance = leaf_spine(np.random.default_rng(1), jobs=7, servers_per_rack=2, gpus=3)
    terms = Terms(instance)
    generation = ColumnGeneration(terms, Clock())
    columns = near_optimal(generation, generation.run(), float("inf"), 10**6)
    folded = ClosingProgram(terms, columns, folded=True).solve(LIMITS)
    racks = ClosingProgram(terms, columns, folded=False).solve(LIMITS)
    assert folded.objective <= racks.objective + 1e-6
    value, _, _ = solved(instance)
    assert agrees(float(value) * len(instance.jobs), racks.objective)


def test_a_gang_that_no_rack_holds_pays_for_two():
    instance = leaf_spine(np.random.default_rng(0), jobs=4, servers_per_rack=1, gpus=2)
    job = instance.jobs[0].model_copy(update={"num_tasks": 4})
    instance = instance.model_copy(update={"jobs": (job,)})
    value, bound, outcome = solved(instance)
    assert value == job.iterations * (job.base_iteration_s + job.cross_comm_s)
    assert bound == value
    assert outcome.certificate is not None


def test_sixty_jobs_on_forty_servers_are_certified_within_one_percent():
    instance = paper(np.random.default_rng(0))
    assert (len(instance.jobs), len(instance.servers), len(instance.racks)) == (60, 40, 2)
    value, bound, _ = solved(instance)
    assert float(bound) >= 0.99 * float(value)


def test_classes_of_single_tasks_are_closed():
    instance = single_tasks(np.random.default_rng(0))
    value, bound, outcome = solved(instance)
    assert agrees(float(value), float(bound))
    assert len(instance.jobs) == 800
    assert outcome.notes["columns"] < 69


def test_a_room_that_is_too_small_is_proved(monkeypatch):
    instance = single_rack(np.random.default_rng(0), jobs=30, servers=2, load=1.0)
    extra = instance.jobs[0].model_copy(update={"num_tasks": 2})
    full = instance.model_copy(update={"jobs": (*instance.jobs, extra, extra, extra, extra, extra)})
    for most in (content_search.MOST_CONTENTS, 0):
        monkeypatch.setattr(
            "gadgetopt.models.marl.placement.proving.bounds.column_generation.MOST_CONTENTS", most
        )
        outcome = price_and_close(full, LIMITS, np.random.default_rng(0))
        assert outcome.proved is Status.INFEASIBLE
        assert outcome.solution is None


def test_where_a_guess_leaves_too_many_contents_a_tree_goes_on(monkeypatch):
    instance = single_rack(np.random.default_rng(1), jobs=20, servers=10)
    best, _, _ = solved(instance)
    monkeypatch.setattr(module, "MANY_COLUMNS", 20)
    monkeypatch.setattr(module, "MOST_COLUMNS", 40)
    monkeypatch.setattr(module, "SOME_COLUMNS", 40)
    value, bound, outcome = solved(instance)
    assert outcome.notes["nodes"] > 0
    assert agrees(float(value), float(best))
    assert agrees(float(bound), float(best))


@pytest.mark.parametrize("seed", range(12))
def test_the_tree_has_the_optimum(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    instance = small_instance(rng)
    best = optimum(instance)
    monkeypatch.setattr(branching, "LEAF_COLUMNS", 0)
    outcome = branch_and_price(instance, LIMITS, rng)
    if best is None:
        assert outcome.solution is None
        return
    assert agrees(float(evaluate(instance, outcome.solution).objective), float(best))
    bound = outcome.dual_bound
    if outcome.certificate is not None:
        bound = check_bound(instance, outcome.certificate)
    assert agrees(float(bound), float(best))


@pytest.mark.parametrize("seed", [1, 2])
def test_the_tree_branches_on_the_costs_of_gangs(seed, monkeypatch):
    instance = single_rack(np.random.default_rng(seed), jobs=10, servers=4)
    monkeypatch.setattr(branching, "LEAF_COLUMNS", 10)
    best, _, _ = solved(instance)
    outcome = branch_and_price(instance, LIMITS, np.random.default_rng(0))
    assert agrees(float(outcome.claimed_objective), float(best))
    if outcome.certificate is None:
        assert agrees(float(outcome.dual_bound), float(best))


@pytest.mark.parametrize("time_s", [0.0, 0.5])
def test_a_relaxation_that_is_stopped_leaves_a_certified_bound(time_s):
    instance = paper(np.random.default_rng(0), jobs=150, servers_per_rack=50)
    outcome = price_and_close(instance, Limits(time_s=time_s), np.random.default_rng(0))
    assert outcome.limit_hit == "time_s"
    assert check_bound(instance, outcome.certificate) >= alone_bound(instance)
