"""FIFO, DRF and Tiresias: feasible, deterministic, and true to their policies."""

import numpy as np
import pytest
from calling import called
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.models.gadget.baselines.policies import (
    budgets,
    drf,
    fifo,
    fixed_workers,
    tiresias,
)
from gadgetopt.models.gadget.data.generate import presets as generate
from gadgetopt.models.gadget.evaluate import evaluate, worker_slots
from gadgetopt.models.gadget.subproblems.graph_placement import cut
from gadgetopt.models.gadget.subproblems.slot_problem import Mapping
from gadgetopt.system.result import Limits

from ..tiny import OPTIMA, tiny

POLICIES = [
    (fifo, {}),
    (fifo, {"backfill": True, "draw": "within"}),
    (drf, {}),
    (drf, {"share_links": True}),
    (tiresias, {}),
    (tiresias, {"threshold": 3.0}),
]
TREES = [name for name in OPTIMA if name[:2] not in ("h6", "h7")]


def run(policy, instance, seed=0, **parameters):
    return called(policy, instance, Limits(), np.random.default_rng(seed), **parameters).solution


@given(st.sampled_from(POLICIES), st.integers(0, 10**6), st.integers(1, 2))
def test_baselines_respect_every_constraint(policy, seed, resources):
    rng = np.random.default_rng(seed)
    instance = generate.tiny(rng, jobs=6, servers=4, horizon_slots=4, resources=resources)
    solution = run(policy[0], instance, seed, **policy[1])
    assert evaluate(instance, solution).feasible
    assert solution == run(policy[0], instance, seed, **policy[1])


@pytest.mark.parametrize(("policy", "parameters"), POLICIES)
@pytest.mark.parametrize("preset", ["contended", "tight", "quickstart"])
def test_baselines_respect_every_constraint_of_larger_instances(policy, parameters, preset):
    instance = getattr(generate, preset)(np.random.default_rng(3))
    evaluation = evaluate(instance, run(policy, instance, **parameters))
    assert evaluation.feasible
    assert evaluation.components["gain"] > 0


@pytest.mark.parametrize(("policy", "parameters"), POLICIES)
@pytest.mark.parametrize("name", TREES)
def test_baselines_never_exceed_the_hand_checked_optima(policy, parameters, name):
    evaluation = evaluate(tiny(name), run(policy, tiny(name), **parameters))
    assert evaluation.feasible
    assert evaluation.objective <= OPTIMA[name] + 1e-9


@given(st.sampled_from([fifo, drf, tiresias]), st.integers(0, 10**6))
def test_baselines_respect_every_constraint_of_graphs(policy, seed):
    rng = np.random.default_rng(seed)
    instance = generate.graph(rng, jobs=4, servers=5, horizon_slots=3, largest_ring=5)
    assert evaluate(instance, run(policy, instance, seed)).feasible


def test_links_of_graphs_are_not_shared_out():
    with pytest.raises(ModelRefused, match="two-tier"):
        run(drf, tiny("h7_square"), share_links=True)


def test_fifo_keeps_places_and_finishes_every_budget_when_there_is_room():
    instance = generate.paper(np.random.default_rng(0), jobs=20)
    solution = run(fifo, instance)
    assert worker_slots(instance, solution) == budgets(instance)
    places = {}
    for ring in sorted(solution.rings, key=lambda ring: ring.slot):
        first = places.setdefault(ring.job, ring.servers)
        assert ring.servers == first[: len(ring.servers)]


def test_fifo_blocks_behind_the_first_job_that_does_not_fit():
    # One server of two GPUs, two slots: both draw what they may, 2 and 1 workers; job 1 waits.
    solution = run(fifo, tiny("h3_greedy_concave"), 1, draw="clip")
    sizes = fixed_workers(tiny("h3_greedy_concave"), np.random.default_rng(1), 10, "clip")
    assert sizes == [2, 1]
    assert [(r.slot, r.job) for r in solution.rings] == [(1, 0), (2, 1)]


def test_drf_gives_equal_shares():
    # Two GPUs, two jobs: one each in both slots, the optimum here.
    solution = run(drf, tiny("h3_greedy_concave"))
    assert sorted((r.slot, r.job, len(r.servers)) for r in solution.rings) == [
        (1, 0, 1),
        (1, 1, 1),
        (2, 0, 1),
        (2, 1, 1),
    ]


def test_tiresias_turns_to_the_job_with_less_service():
    # One GPU, two slots: job 0 first, then job 1.
    solution = run(tiresias, tiny("h4_sigmoid_starvation"))
    assert [(r.slot, r.job) for r in solution.rings] == [(1, 0), (2, 1)]


def test_a_cut_mapping_keeps_the_first_workers():
    mapping = Mapping(0, ((3, 2), (1, 2), (5, 1)))
    assert cut(mapping, 3).workers == ((3, 2), (1, 1))
    assert cut(mapping, 9) == mapping
    # Around the square 0, 1, 3, 2: without server 2 the ring closes through it.
    around = Mapping(0, ((1, 2), (3, 1), (2, 1)), ((), (1, 3), (3, 2), (2, 0, 1)))
    assert cut(around, 3).routes == ((), (1, 3), (3, 2, 0, 1))
    assert cut(around, 2).routes == ((), ())


def test_what_is_not_understood_is_said():
    with pytest.raises(InputError, match="draw: 'all'"):
        run(fifo, tiny("h5_slot"), draw="all")
    with pytest.raises(InputError, match="most_workers: 0"):
        run(tiresias, tiny("h5_slot"), most_workers=0)


def test_out_of_time_the_rest_of_the_horizon_stays_empty():
    instance = generate.contended(np.random.default_rng(0))
    outcome = drf(instance, Limits(time_s=0.0))
    assert outcome.limit_hit == "time_s"
    assert evaluate(instance, outcome.solution).feasible
