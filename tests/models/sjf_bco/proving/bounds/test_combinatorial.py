"""Lower bounds never exceed the optimum; the energetic bound equals its formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.sjf_bco.data.generate.presets import scale
from gadgetopt.models.sjf_bco.energetic import _Windows
from gadgetopt.models.sjf_bco.formulations import load_limit
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance
from gadgetopt.models.sjf_bco.proving.bounds import class_bound
from gadgetopt.models.sjf_bco.proving.bounds import combinatorial as bounds
from gadgetopt.models.sjf_bco.proving.certificate.check import check_bound
from gadgetopt.models.sjf_bco.subproblems.greedy import makespan_of, upper_bound_schedule
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits, Status

from ...exact_instances import (
    HAND_CHECKED,
    optimum_of,
    tiny_instance,
)
from ...hand_checked import (
    instance,
    job,
    paper_experiment,
)
from ...random_instances import small_instances


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def energetic_by_formula(inst: SjfBcoInstance) -> int:
    rho, G, N = inst.rates.exec_min.tolist(), inst.rates.gpus, inst.total_gpus
    M = max(bounds.longest_job(inst), bounds.area(inst))
    while any(
        sum(g * min(M - 2 * t, max(0, d - t)) for g, d in zip(G, rho, strict=True))
        > N * (M - 2 * t)
        for t in range((M + 1) // 2)
    ):
        M += 1
    return M


@given(small_instances())
@settings(max_examples=60)
def test_energetic_bound_is_the_smallest_makespan_that_passes_every_window(inst):
    assert bounds.energetic_bound(inst) == energetic_by_formula(inst)


def test_windows_can_exceed_area_and_longest_job():
    # Three jobs of 2 slots on 2 GPUs: area 3, longest 2, but the middle slot would need 3 GPUs.
    inst = instance([2], [job(1, 20)] * 3)
    assert (bounds.longest_job(inst), bounds.area(inst), bounds.energetic_bound(inst)) == (2, 3, 4)


@pytest.mark.parametrize("seed", range(30))
def test_no_bound_exceeds_the_optimum(seed):
    inst = tiny_instance(seed)
    optimum = optimum_of(seed)
    lp = class_bound.class_lp(inst, Limits()).dual_bound
    milp = solve_model(class_bound.build(inst)).objective
    theta = solve_model(load_limit.build(inst)).objective
    both = bounds.combinatorial(inst, Limits()).dual_bound
    assert lp <= math.ceil(milp - 1e-6) <= optimum
    assert theta <= optimum + 1e-6
    assert max(lp, bounds.energetic_bound(inst)) == both <= optimum


@pytest.mark.parametrize("name", HAND_CHECKED)
def test_no_bound_exceeds_a_hand_checked_optimum(name):
    inst, optimum = HAND_CHECKED[name]
    outcome = bounds.combinatorial(inst, Limits())
    assert outcome.dual_bound <= optimum
    assert outcome.dual_bound == check_bound(inst, outcome.certificate)


def test_class_bound_knows_that_large_servers_are_scarce():
    # Three gangs of 4 want the one server of 4; elsewhere they are spread and take 20 slots
    # instead of 2. The area is 24 GPU slots on 8 GPUs.
    gangs = [job(4, 20, 1.0, 0.0675)] * 3
    inst = instance([4, 1, 1, 1, 1], gangs, inter=2.0)
    assert bounds.energetic_bound(inst) == 4
    assert class_bound.class_lp(inst, Limits()).dual_bound >= 5


def test_a_bound_beyond_the_horizon_proves_infeasibility():
    inst = instance([1], [job(1, 20)] * 3, horizon=5)
    assert bounds.energetic(inst).proved is Status.INFEASIBLE


@given(small_instances())
@settings(max_examples=40)
def test_the_quick_schedule_is_feasible_when_it_fits_the_horizon(inst):
    roomy = inst.model_copy(update={"horizon_slots": 10_000})
    assert makespan_of(roomy, upper_bound_schedule(roomy)) >= bounds.energetic_bound(inst)


@pytest.mark.parametrize(("seed", "expected"), [(0, 348), (1, 299), (2, 340), (3, 360)])
def test_energetic_bound_of_the_papers_experiment(seed, expected):
    assert bounds.energetic_bound(paper_experiment(seed)) == expected


@pytest.mark.parametrize("jobs", [200, 20_000])
def test_energetic_bound_bisects_and_looks_at_two_windows_a_duration(monkeypatch, jobs):
    inst = scale(np.random.default_rng(0), jobs=jobs)
    tested, windows = [], []
    needed, sort = _Windows.needed, np.searchsorted
    monkeypatch.setattr(_Windows, "needed", lambda w, M: tested.append(M) or needed(w, M))
    monkeypatch.setattr(np, "searchsorted", lambda *a, **b: windows.append(a[1]) or sort(*a, **b))
    bounds.energetic_bound(inst)

    longest = bounds.area(inst) + 2 * bounds.longest_job(inst)
    durations = len(np.unique(inst.rates.exec_min))
    assert 1 <= len(tested) <= 2 * longest.bit_length()
    assert windows
    assert all(len(t) <= 2 * durations + 2 for t in windows)


@given(st.integers(0, 2**31))
@settings(max_examples=10)
def test_class_lp_never_exceeds_the_class_milp(seed):
    inst = tiny_instance(seed)
    lp = class_bound.class_lp(inst, Limits()).notes["lp_bound"]
    assert lp <= solve_model(class_bound.build(inst)).objective + 1e-6
