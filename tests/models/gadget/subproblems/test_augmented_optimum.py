"""The augmented program in closed form, against HiGHS on the same program."""

import numpy as np
import pytest

from gadgetopt.models.gadget.algorithms.lp_rs_mde import relax
from gadgetopt.models.gadget.data.generate.presets import (
    contended,
    graph,
    paper,
    tight,
    tiny,
)
from gadgetopt.models.gadget.evaluate import evaluate
from gadgetopt.models.gadget.heuristics.roundings import gadget_rounding
from gadgetopt.models.gadget.subproblems.augmented_optimum import has_closed_form
from gadgetopt.models.gadget.subproblems.hull import envelope
from gadgetopt.models.gadget.subproblems.loads import loads_of, no_loads
from gadgetopt.models.gadget.subproblems.slot_problem import SlotProblem, slot_problem
from gadgetopt.system.result import Limits

PRESETS = {
    "tiny": lambda rng: tiny(rng, jobs=4, servers=4),
    "graph": lambda rng: graph(rng, jobs=4),
    "tight": lambda rng: tight(rng, jobs=8, servers=5, horizon_slots=3),
    "contended": lambda rng: contended(rng, jobs=12, servers=4, horizon_slots=3),
    "paper": lambda rng: paper(rng, jobs=5, servers=8, horizon_slots=4),
}


def last_slot(preset: str, seed: int) -> SlotProblem:
    instance = PRESETS[preset](np.random.default_rng(seed))
    tables = [envelope(job.utility) for job in instance.terms.jobs]
    return slot_problem(instance.terms, instance.horizon_slots, [0] * len(tables), tables)


@pytest.mark.parametrize("selected", [True, False])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("preset", PRESETS)
def test_the_closed_form_is_an_optimal_point_of_the_program(preset, seed, selected):
    problem = last_slot(preset, seed)
    assert has_closed_form(problem)
    ours = relax(problem, Limits(), selected=selected)
    plain = relax(problem, Limits(), selected=selected, program="highs")
    assert ours.value == pytest.approx(plain.value, rel=1e-7, abs=1e-7)
    assert ours.selection == plain.selection
    assert ours.factors == plain.factors
    terms = problem.terms
    server, link = (x.astype(float) for x in (no_loads(terms).server, no_loads(terms).link))
    total = 0.0
    for x, of_job in zip(problem.jobs, ours.decomposition.mappings, strict=True):
        assert sum(y.weight for y in of_job) <= 1 + 1e-9
        for y in of_job:
            assert y.mapping.job == x.job.index
            assert y.weight > 0
            loads = loads_of(terms, x.job, y.mapping)
            server += y.weight * loads.server
            link += y.weight * loads.link
            total += y.weight * float(x.gain[y.mapping.size])
    assert total == pytest.approx(ours.value, rel=1e-7, abs=1e-7)
    assert (server <= terms.capacity * (1 + 1e-9)).all()
    assert (link <= terms.link_mbps).all()
    assert ours.decomposition.lost <= 1e-6


def test_several_resources_and_jobs_too_large_for_a_server_go_to_highs():
    several = tiny(np.random.default_rng(0), resources=2)
    problem = slot_problem(several.terms, 1, [0] * len(several.jobs))
    assert not has_closed_form(problem)
    assert relax(problem, Limits()) == relax(problem, Limits(), program="highs")
    one = tiny(np.random.default_rng(0))
    jobs = tuple(job.model_copy(update={"worker_demand": (3.0,)}) for job in one.jobs)
    large = one.model_copy(update={"jobs": jobs}).terms
    assert not has_closed_form(slot_problem(large, 1, [0] * len(jobs)))


@pytest.mark.parametrize("seed", range(3))
def test_where_all_rings_fit_both_ways_give_every_job_the_same_rings(seed):
    instance = paper(np.random.default_rng(seed), jobs=6, servers=12, horizon_slots=12)
    found = [
        gadget_rounding(
            instance, Limits(), np.random.default_rng(0), rounding="fill", program=program
        ).solution
        for program in ("highs", "closed_form")
    ]
    sizes = [sorted((r.slot, r.job, len(r.servers)) for r in x.rings) for x in found]
    assert sizes[0] == sizes[1]
    assert all(evaluate(instance, x).feasible for x in found)
