"""The GPU-bin bound: never above the optimum, never below the bounds it contains, proved."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.sjf_bco.data.generate.presets import (
    mini_paper,
    paper,
)
from gadgetopt.models.sjf_bco.energetic import (
    area,
    energetic_bound,
    longest_job,
)
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance
from gadgetopt.models.sjf_bco.proving.bounds.gpu_bin_lp import gpu_bin_lp
from gadgetopt.models.sjf_bco.proving.certificate.check import (
    GpuBinPrices,
    SjfBcoCertificate,
    check_bound,
)
from gadgetopt.models.sjf_bco.proving.certificate.gpu_bins import (
    knapsack_value,
    refutes,
)
from gadgetopt.models.sjf_bco.subproblems.greedy import makespan_of, upper_bound_schedule
from gadgetopt.system.result import Limits

from ...exact_instances import (
    HAND_CHECKED,
    optimum_of,
    tiny_instance,
)
from ...hand_checked import (
    instance,
    job,
)
from ...random_instances import small_instances


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def proved(inst: SjfBcoInstance, certificate: SjfBcoCertificate) -> int:
    bound = check_bound(inst, certificate)
    assert bound is not None
    return bound


@settings(max_examples=12, deadline=None)
@given(small_instances())
def test_bound_lies_between_the_bounds_it_contains_and_a_schedule(inst):
    found = gpu_bin_lp(inst, Limits())
    assert found.dual_bound >= max(energetic_bound(inst), area(inst), longest_job(inst))
    assert proved(inst, found.certificate) == found.dual_bound
    makespan = makespan_of(inst, upper_bound_schedule(inst))
    assert makespan is None or found.dual_bound <= makespan


@pytest.mark.parametrize("name", HAND_CHECKED)
def test_bound_never_exceeds_a_hand_checked_optimum(name):
    inst, optimum = HAND_CHECKED[name]
    assert gpu_bin_lp(inst, Limits()).dual_bound <= optimum


@pytest.mark.parametrize("seed", range(8))
def test_bound_never_exceeds_the_optimum_by_brute_force(seed):
    inst = tiny_instance(seed)
    assert gpu_bin_lp(inst, Limits()).dual_bound <= optimum_of(seed)


def test_three_jobs_that_fill_more_than_half_need_three_gpus():
    # Two GPUs; three jobs of 6 slots (rate 10): area 9, but one GPU has to take two: 12.
    inst = instance([2], [job(1, 60, grad=0.0, bwd=0.09)] * 3)
    assert gpu_bin_lp(inst, Limits()).dual_bound == 12


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 9)), max_size=6), st.integers(0, 12))
def test_knapsack_takes_the_best_set(items, room):
    best = max(
        sum(v for _, v in chosen)
        for n in range(len(items) + 1)
        for chosen in combinations(items, n)
        if sum(w for w, _ in chosen) <= room
    )
    lengths = np.array([w for w, _ in items], dtype=np.int64)
    worth = np.array([v for _, v in items], dtype=np.int64)
    assert knapsack_value(lengths, worth, room) == best


@settings(max_examples=12, deadline=None)
@given(small_instances(), st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_no_prices_refute_the_makespan_of_a_schedule(inst, seed, unit):
    makespan = makespan_of(inst, upper_bound_schedule(inst))
    if makespan is not None:
        draw = np.random.default_rng(seed)
        for _ in range(20):
            prices = draw.integers(0, 100, len(inst.jobs)).tolist()
            assert not refutes(inst, makespan, prices, unit)


def test_forged_certificates_prove_nothing():
    inst = mini_paper(rng(), jobs=12)
    found = gpu_bin_lp(inst, Limits())
    assert check_bound(inst, found.certificate) == found.dual_bound
    slots = found.dual_bound + 1

    def forged(**given):
        proof = {"slots": slots, "prices": (1,) * len(inst.jobs)} | given
        return SjfBcoCertificate(gpu_bins=GpuBinPrices(**proof))

    assert check_bound(inst, forged()) is None
    for wrong in (
        {"prices": ()},
        {"prices": (1,) * (len(inst.jobs) - 1)},
        {"prices": (0,) * len(inst.jobs)},
        {"slots": 10**14},
    ):
        with pytest.raises(ValueError, match=r"^(gpu_bins|unit_slots)"):
            check_bound(inst, forged(**wrong))
    with pytest.raises(ValueError, match="prices"):
        forged(prices=(2**61,) * len(inst.jobs))


@settings(max_examples=12, deadline=None)
@given(small_instances(), st.integers(2, 5))
def test_coarse_units_refute_no_more_than_single_slots(inst, unit):
    prices = inst.rates.exec_min.tolist()
    for makespan in range(1, energetic_bound(inst)):
        if refutes(inst, makespan, prices, unit):
            assert refutes(inst, makespan, prices)


def test_paper_scale_beats_the_energetic_bound():
    inst = paper(np.random.default_rng(3), jobs=80, servers=10)
    found = gpu_bin_lp(inst, Limits())
    assert found.dual_bound >= energetic_bound(inst)
    assert proved(inst, found.certificate) == found.dual_bound


def test_without_time_the_energetic_bound_is_left():
    inst = paper(rng(), jobs=40, servers=5)
    found = gpu_bin_lp(inst, Limits(time_s=0.0))
    assert found.dual_bound == energetic_bound(inst)
    assert found.limit_hit == "time_s"


def test_a_certificate_of_extreme_units_proves_nothing_and_fills_no_memory():
    inst = instance([2], [job(1, 20)] * 3)

    def bound(slots: int, unit: int) -> int | None:
        prices = GpuBinPrices(slots=slots, prices=(1, 1, 1), unit_slots=unit)
        return check_bound(inst, SjfBcoCertificate(gpu_bins=prices))

    assert bound(2**62, 2**61) is None
    with pytest.raises(ValueError, match="leaves a GPU 1,999,999,999 units, expected at most"):
        bound(2 * 10**9, 1)
    with pytest.raises(ValueError, match="unit_slots"):
        bound(3, 2**61 + 1)
