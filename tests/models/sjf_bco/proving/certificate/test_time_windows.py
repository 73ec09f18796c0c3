"""The check's bounds by formulas are those of the search, which computes them by arrays."""

import numpy as np
import pytest

from gadgetopt.models.sjf_bco.data.generate.presets import scale
from gadgetopt.models.sjf_bco.energetic import area, energetic_bound, longest_job
from gadgetopt.models.sjf_bco.proving.certificate.time_windows import formula_bound

from ...hand_checked import instance, job, paper_experiment
from ...random_instances import small_instance


def assert_same(inst):
    assert formula_bound(inst, "longest_job") == longest_job(inst)
    assert formula_bound(inst, "area") == area(inst)
    assert formula_bound(inst, "energetic") == energetic_bound(inst)


@pytest.mark.parametrize("seed", range(200))
def test_the_check_and_the_search_compute_the_same_bounds(seed):
    work = (10, 40, 4000, 10**9)[seed % 4]
    assert_same(small_instance(np.random.default_rng(seed), most_work=work, most_jobs=9))


def test_they_do_at_scale():
    assert_same(scale(np.random.default_rng(0), jobs=2_000))
    assert_same(paper_experiment(0))


def test_a_window_in_the_middle_is_seen_by_hand():
    # Three jobs of 2 slots on 2 GPUs: in 3 slots each needs the middle one, which has 2 GPUs.
    inst = instance([2], [job(1, 20)] * 3)
    bounds = [formula_bound(inst, name) for name in ("longest_job", "area", "energetic")]
    assert bounds == [2, 3, 4]
