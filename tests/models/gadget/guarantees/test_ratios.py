"""Theorems: ratios, assumptions, and the quantities behind them."""

import math

import numpy as np
import pytest

from gadgetopt.models.gadget import PROBLEM
from gadgetopt.models.gadget.algorithms.lp_rs_mde import ALPHA, relax
from gadgetopt.models.gadget.algorithms.mapping_rounding import draw
from gadgetopt.models.gadget.algorithms.overload_factors import overload_factors
from gadgetopt.models.gadget.data.generate import presets as generate
from gadgetopt.models.gadget.evaluate import evaluate, link_loads, worker_slots
from gadgetopt.models.gadget.guarantees import ratios as guarantees
from gadgetopt.models.gadget.instance import GadgetSolution
from gadgetopt.models.gadget.proving.exact.slot_by_slot import gadget_exact
from gadgetopt.models.gadget.subproblems.hull import envelope
from gadgetopt.models.gadget.subproblems.loads import Loads, loads_of, overloads
from gadgetopt.models.gadget.subproblems.placement import Room, place
from gadgetopt.models.gadget.subproblems.slot_problem import ring, slot_problem
from gadgetopt.models.gadget.terms import Terms
from gadgetopt.models.gadget.utility import Sigmoid, Table
from gadgetopt.system.result import Limits

from ..brute_force import brute_force
from ..tiny import tiny


def overload(terms: Terms, loads: Loads) -> tuple[float, float]:
    r"""Return :math:`\hat\beta` and :math:`\hat\gamma`: the largest ratios of load to capacity.

    The first is over servers, the second over links; infinite if an element without capacity is
    loaded.
    """
    node, link = overloads(terms, loads)
    return max(node), link


def small(seed, kind):
    """Draw a tiny instance of two or three slots with utilities of one kind."""
    rng = np.random.default_rng(seed)
    instance = generate.tiny(rng, jobs=3, servers=2, horizon_slots=2 + seed % 2, largest_ring=2)
    jobs = []
    for job in instance.jobs:
        if kind == "concave":
            falling = np.sort(rng.integers(1, 20, size=6))[::-1]
            utility = Table(values=(0.0, *np.cumsum(falling).astype(float).tolist()))
        else:
            utility = Sigmoid(
                priority=float(rng.integers(1, 20)),
                sensitivity=3.0,
                target_iterations=float(rng.integers(0, 5)),
            )
        jobs.append(job.model_copy(update={"utility": utility}))
    return instance.model_copy(update={"jobs": tuple(jobs)})


def by_exact_slots(instance, **parameters):
    rng = np.random.default_rng(0)
    found = gadget_exact(instance, Limits(), rng, **parameters)
    return evaluate(instance, found.solution), found.solution


@pytest.mark.parametrize("begin", range(0, 40, 10))
def test_theorem_6_half_of_the_optimum_where_utilities_are_concave(begin):
    for seed in range(begin, begin + 10):
        instance = small(seed, "concave")
        parameters: dict[str, object] = {}
        assert guarantees.concave(instance, parameters)
        found, _ = by_exact_slots(instance)
        best, _ = brute_force(instance)
        assert found.feasible
        assert found.objective * guarantees.theorem_6_ratio(instance, parameters) >= best - 1e-9
        assert found.objective <= best + 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_theorem_6_holds_for_the_envelopes_of_sigmoids(seed):
    instance = small(seed, "sigmoid")
    found, solution = by_exact_slots(instance, envelopes=True)
    done = worker_slots(instance, solution)
    above = sum(envelope(job.utility)[z] for job, z in zip(instance.terms.jobs, done, strict=True))
    best, _ = brute_force(instance)
    assert 2 * above >= best - 1e-9
    assert found.objective <= best + 1e-9


def test_the_printed_sigmoid_is_not_concave_and_refutes_the_ratio():
    starved = tiny("h4_sigmoid_starvation")
    assert not guarantees.concave(starved, {})
    printed, _ = by_exact_slots(starved, envelopes=False)
    best, _ = brute_force(starved)
    assert best > 2 * printed.objective
    assert not guarantees.concave(generate.paper(np.random.default_rng(0), jobs=10), {})
    assert guarantees.concave(generate.paper(np.random.default_rng(0), jobs=10, utility="log"), {})


def test_gamma_is_the_largest_ring():
    walk = tiny("h5_slot")
    assert guarantees.theorem_8_ratio(walk, {}) == 9
    assert guarantees.theorem_10_ratio(walk, {}) == 10
    assert guarantees.theorem_10_ratio(walk, {"all_sizes": True}) == 4
    assert guarantees.one_slot(walk, {})


def test_theorems_are_about_the_methods_whose_slots_they_speak_of():
    about = {theorem.name: theorem.methods for theorem in PROBLEM.guarantees}
    assert about["Theorem 6"] == ("gadget_exact",)
    assert about["Theorem 8"] == about["Theorem 10"] == ("gadget", "gadget_rounding")


@pytest.mark.parametrize("seed", range(10))
def test_lemma_7_the_selected_sizes_keep_their_part_of_the_relaxation(seed):
    rng = np.random.default_rng(seed)
    problem = last_slot(generate.tiny(rng, jobs=5, servers=4, resources=1 + seed % 2))
    relaxed = relax(problem, Limits())
    selection = relaxed.selection
    kept = sum(
        max((x.gain[k] * part for k, part in share.items()), default=0.0)
        for x, share in zip(problem.jobs, selection.shares, strict=True)
    )
    gamma = max(x.most for x in problem.jobs)
    assert kept >= selection.bound / gamma - 1e-9
    # With all servers and links the augmented program has at least what was kept (P3).
    assert relax(problem, Limits(), leave_out=False).value >= kept - 1e-6


def last_slot(instance):
    terms = instance.terms
    tables = [envelope(job.utility) for job in terms.jobs]
    return slot_problem(terms, terms.horizon, [0] * len(terms.jobs), tables)


def test_draws_are_as_rarely_poor_or_overloaded_as_theorem_8_says():
    problem = last_slot(generate.contended(np.random.default_rng(2), jobs=15))
    relaxed = relax(problem, Limits())
    weighted = relaxed.decomposition.mappings
    samples = draw(problem, weighted, 2000, np.random.default_rng(0))
    value = np.array([sample.value for sample in samples])
    mean = sum(
        y.weight * float(x.gain[y.mapping.size])
        for x, of_job in zip(problem.jobs, weighted, strict=True)
        for y in of_job
    )
    assert mean == pytest.approx(relaxed.value, rel=1e-6)
    assert value.mean() == pytest.approx(mean, abs=5 * value.std() / math.sqrt(len(value)) + 1e-9)
    poor = float(np.mean(value < ALPHA * relaxed.value))
    node = float(np.mean([s.node_factor > relaxed.factors.beta[0] for s in samples]))
    link = float(np.mean([s.link_factor > relaxed.factors.gamma for s in samples]))
    servers, links = len(problem.terms.servers), len(problem.terms.links)
    assert poor <= guarantees.POOR_DRAW
    assert poor + node + link <= guarantees.rejection_bound(servers, links)


def test_theorem_10_speaks_of_one_element_over_all_slots():
    assert guarantees.horizon_violation_bound(50, 200) == pytest.approx(3.2e-5, rel=0.01)
    assert guarantees.horizon_violation_bound(50, 1) == pytest.approx(50**-4)


@pytest.mark.parametrize("seed", range(10))
def test_larger_rings_may_overload_more(seed):
    rng = np.random.default_rng(seed)
    problem = last_slot(generate.tiny(rng, jobs=4, servers=4, resources=2))
    most = tuple(x.most for x in problem.jobs)
    one = tuple(min(1, k) for k in most)
    none, small_rings, large = (overload_factors(problem, s) for s in ((0,) * len(most), one, most))
    assert none.beta == (1.0, 1.0)
    assert none.gamma == small_rings.gamma == 1.0
    assert all(a <= b for a, b in zip(small_rings.beta, large.beta, strict=True))
    assert small_rings.gamma <= large.gamma


@pytest.mark.parametrize("seed", range(20))
def test_loads_on_a_cluster_are_those_of_the_hops(seed):
    rng = np.random.default_rng(seed)
    instance = generate.tight(rng, jobs=6, servers=6, horizon_slots=1)
    terms = instance.terms
    room = Room(terms)
    for job in terms.jobs:
        for size in range(job.max_ring, 0, -1):
            mapping = place(room, job, size)
            if mapping is None:
                continue
            room.take(job, mapping)
            loads = loads_of(terms, job, mapping)
            hops = link_loads(instance, GadgetSolution(rings=(ring(terms, 1, mapping),)))
            by_link = {(1, (u, v)): 0 for u, v in terms.links.tolist()} | hops
            assert loads.link.tolist() == [by_link[1, (u, v)] for u, v in terms.links.tolist()]
            node, link = overload(terms, loads)
            assert node <= 1
            assert link <= 1
            break
