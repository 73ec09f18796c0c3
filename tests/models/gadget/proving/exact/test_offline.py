"""Offline optimum over all slots: relaxation, construction, cuts and search."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.gadget.data.generate.presets import (
    graph,
    tight,
    tiny,
)
from gadgetopt.models.gadget.evaluate import evaluate
from gadgetopt.models.gadget.instance import GadgetInstance, Graph, Job, Link, Node
from gadgetopt.models.gadget.proving.certificate.epochs import epochs_of
from gadgetopt.models.gadget.proving.exact.construction import (
    construct,
    worth,
)
from gadgetopt.models.gadget.proving.exact.cp_totals import (
    exact_slot,
    reach_totals,
)
from gadgetopt.models.gadget.proving.exact.epoch_cuts import (
    Nogood,
    SlotPatterns,
    with_cuts,
)
from gadgetopt.models.gadget.proving.exact.epoch_form import epoch_form
from gadgetopt.models.gadget.proving.exact.horizon_search import search_horizon
from gadgetopt.models.gadget.proving.exact.offline import offline
from gadgetopt.models.gadget.proving.exact.ring_exchange import exchange
from gadgetopt.models.gadget.proving.formulations import epoch_relaxation
from gadgetopt.models.gadget.subproblems.levels import levels_of
from gadgetopt.models.gadget.subproblems.max_ring import largest_rings
from gadgetopt.models.gadget.utility import Table
from gadgetopt.solvers import solve_model
from gadgetopt.solvers.highs import solve_form
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

from ...brute_force import brute_force
from ...loads import total_loads
from ...subproblems.test_placement import slot_instance
from ...tiny import OPTIMA
from ...tiny import tiny as hand_checked

CLOSE = 1e-6


def several_slots(seed, **options):
    return tiny(np.random.default_rng(seed), horizon_slots=3, servers=2, largest_ring=2, **options)


def run(instance, **options):
    return offline(instance, Limits(time_s=60), np.random.default_rng(0), **options)


def relaxation_of(instance):
    return epoch_form(instance.terms, largest_rings(instance.terms))


@pytest.mark.parametrize("name", sorted(OPTIMA))
def test_hand_checked_instances_are_certified(name):
    instance = hand_checked(name)
    outcome = run(instance)
    found = evaluate(instance, outcome.solution)
    assert found.feasible
    assert found.objective == pytest.approx(OPTIMA[name], abs=CLOSE)
    assert outcome.dual_bound == pytest.approx(OPTIMA[name], abs=CLOSE)


def test_h3_greedy_loses_what_the_relaxation_sees():
    # Slot by slot A takes both GPUs first, 20 + 9; both jobs in both slots are 20 + 18.
    assert solve_form(relaxation_of(hand_checked("h3_greedy_concave")).form, Limits()).bound == 38


@pytest.mark.parametrize("seed", range(18))
def test_value_optimum_and_bound_are_in_order_and_certified_ones_meet(seed):
    instance = several_slots(seed, resources=1 + seed % 2)
    optimum, _ = brute_force(instance)
    outcome = run(instance)
    found = evaluate(instance, outcome.solution)
    assert found.feasible
    slack = CLOSE * (1 + float(optimum))
    assert found.objective <= optimum + slack
    assert outcome.dual_bound >= optimum - slack
    if not outcome.notes["totals_undecided"]:
        assert found.objective == pytest.approx(float(optimum), abs=slack)
    assert solve_form(relaxation_of(instance).form, Limits()).bound >= optimum - slack


@pytest.mark.parametrize("seed", range(12))
def test_model_and_arrays_of_the_relaxation_agree(seed):
    rng = np.random.default_rng(seed)
    instance = several_slots(seed, resources=2) if seed % 2 else tight(rng, jobs=12, servers=4)
    built = solve_model(epoch_relaxation.build(instance), "highs", Limits(), 0)
    assert built.status is Status.OPTIMAL
    arrays = solve_form(relaxation_of(instance).form, Limits())
    assert built.bound == pytest.approx(arrays.bound, abs=CLOSE)


def test_relaxation_declared_as_a_formulation_gives_a_bound():
    instance = hand_checked("h3_greedy_concave")
    result = solve(Document(problem("gadget"), "instance", "h3", instance), "epochs@highs")
    assert result.solution is None
    assert result.bound == pytest.approx(38)


def test_epochs_begin_with_arrivals_and_end_with_the_horizon():
    terms = several_slots(4).terms
    epochs = epochs_of(terms)
    assert epochs.begin.tolist() == sorted({job.arrival for job in terms.jobs})
    assert int(epochs.begin[0]) - 1 + int(epochs.length.sum()) == terms.horizon


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8))
def test_levels_and_increments_reproduce_the_table(gains):
    table = (0.0, *np.cumsum(gains).astype(float).tolist())
    instance = slot_instance([(0, len(gains), 1000)], [0], [(0, table)])
    job = instance.terms.jobs[0]
    levels = levels_of(job)
    base = dict(zip(levels.level.tolist(), levels.level_worth.tolist(), strict=True)) or {0: 0.0}
    steps = np.repeat(levels.slope, levels.width.astype(int))
    for k in range(job.max_total + 1):
        below = max((x for x in base if x <= k), default=None)
        reached = 0.0 if below is None else base[below]
        if not len(levels.level) or below == max(base):
            reached += float(steps[: k - (below or 0)].sum())
        assert reached == pytest.approx(job.utility[k])


# Two GPUs on each of three servers, a link carries one ring: rings of three fit once in a slot.
RIGID = slot_instance([(0, 2, 3000)] * 3, [0], [(2000, (0, 0, 0, 30)), (2000, (0, 0, 0, 20))])


def test_totals_that_do_not_fit_are_proved_impossible_and_cut_off():
    terms, both = RIGID.terms, np.array([3, 3])
    nothing = construct(terms, [0, 0], [3, 3])
    assert reach_totals(terms, both, [3, 3], nothing, Limits(), 0).impossible
    only_first = reach_totals(terms, np.array([3, 0]), [3, 3], nothing, Limits(), 0)
    assert only_first.schedule is not None
    assert only_first.schedule.done.tolist() == [3, 0]
    relaxation = relaxation_of(RIGID)
    assert solve_form(relaxation.form, Limits()).bound == 50
    without = with_cuts(relaxation, (), [Nogood({0: 3, 1: 3})])
    assert solve_form(without, Limits()).bound == 30


def test_patterns_cut_off_what_a_slot_cannot_share_out():
    terms, relaxation, rng = RIGID.terms, relaxation_of(RIGID), np.random.default_rng(0)
    patterns = SlotPatterns(terms, relaxation.epochs, [3, 3], exact_slot)
    cut = patterns.separate(np.array([3, 3]), np.array([10.0, 20 / 3]), Limits(), rng)
    assert cut is not None
    assert (cut.weight[0] * 3).sum() > cut.limit[0]
    assert solve_form(with_cuts(relaxation, [cut]), Limits()).bound < 50 - 1


@pytest.mark.parametrize("seed", range(6))
def test_cuts_hold_for_all_totals_that_can_be_reached(seed):
    instance = tight(
        np.random.default_rng(seed), jobs=6, servers=3, horizon_slots=4, link_factor=0.5, urgency=1
    )
    terms, rng = instance.terms, np.random.default_rng(0)
    largest = largest_rings(terms)
    relaxation = relaxation_of(instance)
    patterns = SlotPatterns(terms, relaxation.epochs, largest, exact_slot)
    wanted = np.array([job.max_ring * 3 for job in terms.jobs])
    cut = patterns.separate(wanted, np.ones(6), Limits(), rng)
    assert cut is not None
    for order in itertools.islice(itertools.permutations(range(6)), 0, 720, 37):
        noise = np.tile(10.0 * np.array(order), (terms.horizon, 1))
        made = construct(terms, wanted, np.maximum(1, largest), noise)
        for t, placed in enumerate(made.mappings, start=1):
            e = int(np.searchsorted(relaxation.epochs.begin, t, side="right")) - 1
            used = sum(int(cut.weight[e, m.job]) * m.size for m in placed)
            assert used * int(relaxation.epochs.length[e]) <= cut.limit[e]


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6))
def test_exchange_keeps_capacities_and_never_falls_short_by_more(seed):
    rng = np.random.default_rng(seed)
    instance = tight(rng, jobs=15, servers=5, horizon_slots=8, link_factor=0.4, urgency=0.9)
    terms = instance.terms
    largest = np.array(largest_rings(terms))
    target = rng.integers(0, 2, size=15) * np.array([job.max_total // 2 for job in terms.jobs])
    start = construct(terms, target, largest)
    made = exchange(terms, target, largest, start, rng, Limits(), moves=150)
    assert made.done.sum() >= start.done.sum()
    assert (made.done <= target).all()
    totals = np.zeros(15, dtype=int)
    for t, placed in enumerate(made.mappings, start=1):
        assert total_loads(terms, placed).fit(terms)
        for mapping in placed:
            assert terms.jobs[mapping.job].arrival <= t
            totals[mapping.job] += mapping.size
    assert totals.tolist() == made.done.tolist()


def test_without_time_there_is_still_a_bound_or_nothing_claimed():
    instance = tight(np.random.default_rng(3), link_factor=0.4, urgency=0.8)
    outcome = offline(instance, Limits(time_s=0.0), np.random.default_rng(0))
    assert outcome.limit_hit == "time_s"


@pytest.mark.parametrize("seed", range(4))
def test_on_graphs_the_search_of_all_slots_closes_the_gap(seed):
    instance = graph(np.random.default_rng(seed), jobs=2, servers=3, switches=1, horizon_slots=2)
    optimum, _ = brute_force(instance)
    outcome = run(instance)
    found = evaluate(instance, outcome.solution)
    assert found.feasible
    assert found.objective == pytest.approx(float(optimum), abs=CLOSE)
    assert outcome.dual_bound == pytest.approx(float(optimum), abs=CLOSE)
    alone = run(instance, search_s=0.0)
    assert evaluate(instance, alone.solution).objective <= optimum + CLOSE
    assert alone.dual_bound >= optimum - CLOSE


def test_graphs_with_too_many_paths_are_searched_as_circulations():
    # Complete graph: too many paths for `cp_circuit`; two rings of three use six servers.
    everywhere = range(9)
    substrate = Graph(
        nodes=tuple(Node(capacity=(1.0,)) for _ in everywhere),
        links=tuple(
            Link(source=u, target=v, mbps=1_000) for u, v in itertools.permutations(everywhere, 2)
        ),
    )
    jobs = tuple(
        Job(
            arrival_slot=1,
            max_workers=3,
            worker_demand=(1.0,),
            ring_bandwidth_mbps=1_000,
            utility=Table(values=(0.0, 0.0, 0.0, worth)),
        )
        for worth in (5.0, 4.0)
    )
    instance = GadgetInstance(horizon_slots=1, substrate=substrate, jobs=jobs)
    found = search_horizon(instance, Limits(), np.random.default_rng(0))
    assert evaluate(instance, found.solution).objective == 9
    assert found.dual_bound == pytest.approx(9)


def test_worth_is_what_the_evaluator_says():
    instance = tight(np.random.default_rng(0), jobs=10, servers=4, horizon_slots=6)
    outcome = run(instance)
    made = np.zeros(10, dtype=np.int64)
    for r in outcome.solution.rings:
        made[r.job] += len(r.servers)
    value = worth(instance.terms, np.minimum(made, [j.max_total for j in instance.terms.jobs]))
    assert evaluate(instance, outcome.solution).objective == pytest.approx(value)
