"""Algorithm 2: ring selection, augmented program, decomposition and rounding."""

from pathlib import Path

import numpy as np
import pytest

import gadgetopt
from gadgetopt.models.gadget.algorithms import lp_rs_mde
from gadgetopt.models.gadget.algorithms.lp_rs_mde import algorithm_2, relax
from gadgetopt.models.gadget.algorithms.mapping_rounding import fill, violation_free
from gadgetopt.models.gadget.algorithms.overload_factors import overload_factors
from gadgetopt.models.gadget.data.generate.presets import (
    graph,
    tiny,
)
from gadgetopt.models.gadget.heuristics.roundings import best_choice, rounded_slot
from gadgetopt.models.gadget.subproblems.augmented_lp import augmented_lp
from gadgetopt.models.gadget.subproblems.decomposition import decompose
from gadgetopt.models.gadget.subproblems.hull import envelope
from gadgetopt.models.gadget.subproblems.loads import loads_of, no_loads
from gadgetopt.models.gadget.subproblems.slot_problem import slot_problem
from gadgetopt.solvers.highs import solve_form
from gadgetopt.system.result import Limits

from ..loads import total_loads

TINY = Path(__file__).parents[4] / "instances" / "gadget" / "tiny"


def slot_of(name: str):
    instance = gadgetopt.read(TINY / name).data
    return slot_problem(instance.terms, 1, [0] * len(instance.jobs))


def value(problem, mappings):
    gains = {x.job.index: x.gain for x in problem.jobs}
    return sum(float(gains[m.job][m.size]) for m in mappings)


def test_h1_the_relaxation_is_blind_to_bandwidth():
    # LP(12) = augmented LP = 10, and size 2 is selected, which no embedding has: the optimum is 6.
    problem = slot_of("h1_bandwidth_blind.json")
    relaxed = relax(problem, Limits(), leave_out=False)
    assert relaxed.selection.bound == pytest.approx(10)
    assert relaxed.value == pytest.approx(10)
    assert relaxed.selection.sizes == (2,)
    # Two servers count as three.
    assert overload_factors(problem, (2,)).beta == pytest.approx([1 + np.sqrt(8 * np.log(3))])
    assert relaxed.factors.beta[0] == pytest.approx(3.965, abs=5e-4)
    rng = np.random.default_rng(0)
    sample = algorithm_2(problem, relax(problem, Limits()), 100, rng)
    assert sample.value == 10
    assert sample.node_factor == 2
    weighted = relaxed.decomposition.mappings
    kept = violation_free(problem, weighted, 100, rng)
    assert value(problem, kept) == 0
    assert value(problem, fill(problem, kept)) == 6


def test_h2_the_relaxation_says_50():
    relaxed = relax(slot_of("h2_chain_of_bounds.json"), Limits())
    assert relaxed.value == pytest.approx(50)


def test_h5_sizes_and_factors_of_the_walk_through():
    problem = slot_of("h5_slot.json")
    relaxed = relax(problem, Limits())
    assert relaxed.selection.bound == 47
    assert relaxed.selection.sizes == (3, 2, 1)
    assert relaxed.value == pytest.approx(47)
    assert relaxed.factors.beta[0] == pytest.approx(7.230, abs=5e-4)
    assert relaxed.factors.gamma == pytest.approx(6.359, abs=5e-4)


@pytest.mark.parametrize("name", ["h3_greedy_concave.json"])
def test_h3_slot_by_slot_is_not_optimal(name):
    for solver in ("gadget_greedy", "gadget"):
        found = gadgetopt.solve(gadgetopt.read(TINY / name), method=solver)
        assert found.objective == pytest.approx(29)


def test_h4_a_sigmoid_starves_and_its_envelope_does_not():
    path = gadgetopt.read(TINY / "h4_sigmoid_starvation.json")
    printed = gadgetopt.solve(path, method="gadget_rounding:rounding=fill:envelopes=false")
    assert printed.objective == pytest.approx(1.0045398, abs=5e-8)
    assert gadgetopt.solve(path, method="gadget").objective == pytest.approx(100.2644016, abs=5e-8)


@pytest.mark.parametrize("seed", range(12))
def test_a_decomposition_is_a_convex_combination_within_the_loads(seed):
    rng = np.random.default_rng(seed)
    instance = tiny(rng) if seed % 2 else graph(rng, jobs=3)
    terms = instance.terms
    tables = [envelope(job.utility) for job in terms.jobs]
    problem = slot_problem(terms, instance.horizon_slots, [0] * len(terms.jobs), tables)
    sizes = [range(1, x.most + 1) for x in problem.jobs]
    lp = augmented_lp(problem, sizes)
    solved = solve_form(lp.form, Limits())
    parts = decompose(problem, lp, solved.values)
    assert parts.lost <= 1e-6
    server, link = (x.astype(float) for x in (no_loads(terms).server, no_loads(terms).link))
    total = 0.0
    for x, of_job in zip(problem.jobs, parts.mappings, strict=True):
        assert sum(y.weight for y in of_job) <= 1 + 1e-6
        for y in of_job:
            loads = loads_of(terms, x.job, y.mapping)
            server += y.weight * loads.server
            link += y.weight * loads.link
            total += y.weight * float(x.gain[y.mapping.size])
    assert total == pytest.approx(solved.objective, abs=1e-5)
    assert (server <= terms.capacity * (1 + 1e-6)).all()
    assert (link <= terms.link_mbps * (1 + 1e-6) + 1e-6).all()
    weighted = parts.mappings
    for kept in (
        violation_free(problem, weighted, 20, np.random.default_rng(0)),
        best_choice(problem, weighted, Limits()),
    ):
        assert total_loads(terms, kept).fit(terms)
        assert len({m.job for m in kept}) == len(kept)
        assert value(problem, kept) <= total + 1e-6
    assert relax(problem, Limits()).value <= relax(problem, Limits()).selection.bound + 1e-6


@pytest.mark.parametrize("rounding", ["violation_free", "knapsack", "fill"])
def test_roundings_that_keep_capacities_give_solutions(rounding):
    for seed in range(5):
        instance = tiny(np.random.default_rng(seed))
        problem = slot_problem(instance.terms, instance.horizon_slots, [0] * len(instance.jobs))
        rng = np.random.default_rng(0)
        kept = rounded_slot(problem, Limits(), rng, rounding=rounding, attempts=10)
        assert total_loads(instance.terms, kept).fit(instance.terms)


def test_rounding_that_keeps_capacities_never_asks_for_the_factors(monkeypatch):
    # They look at every job on every server, which was nearly all of the time for many jobs.
    def asked(*_):
        raise AssertionError("overload factors were computed")

    monkeypatch.setattr(lp_rs_mde, "overload_factors", asked)
    instance = tiny(np.random.default_rng(0))
    problem = slot_problem(instance.terms, instance.horizon_slots, [0] * len(instance.jobs))
    lp_rs_mde.lp_rs_mde(problem, Limits(), np.random.default_rng(0), attempts=3)
    with pytest.raises(AssertionError, match="were computed"):
        algorithm_2(problem, relax(problem, Limits()), 3, np.random.default_rng(0))
