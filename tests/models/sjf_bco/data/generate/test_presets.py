"""Presets: the paper's ranges, repeatability, and the reference draws."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from gadgetopt.models.sjf_bco.data.generate.presets import (
    PAPER_MIX,
    contended_small,
    job_sizes,
    mini_paper,
    paper,
    quickstart,
    scale,
)

from ... import hand_checked

PRESETS = [paper, scale, contended_small, mini_paper, quickstart]


@pytest.mark.parametrize("preset", PRESETS)
def test_same_seed_same_instance(preset: Any) -> None:
    assert preset(np.random.default_rng(3)) == preset(np.random.default_rng(3))


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("seed", range(20))
def test_every_seed_gives_a_valid_instance(preset: Any, seed: int) -> None:
    assert preset(np.random.default_rng(seed)).rates.exec_min.min() >= 1


def test_mix_of_sizes_is_the_papers_and_scales() -> None:
    assert Counter(job_sizes(160)) == PAPER_MIX
    assert sum(job_sizes(160)) == 644
    assert Counter(job_sizes(1600)) == {g: 10 * n for g, n in PAPER_MIX.items()}
    assert len(job_sizes(17)) == 17


@pytest.mark.parametrize(("seed", "gpus"), [(0, 320), (1, 352), (2, 288), (3, 304)])
def test_reference_draws_give_the_reference_clusters(seed: int, gpus: int) -> None:
    assert hand_checked.paper_experiment(seed).total_gpus == gpus


@pytest.mark.parametrize("seed", range(3))
def test_paper_ranges_hold(seed: int) -> None:
    instance = paper(np.random.default_rng(seed))
    rates = instance.rates
    for j, job in enumerate(instance.jobs):
        assert job.est_slots is not None
        assert 50 <= job.est_slots <= 300
        assert 1000 <= job.iterations <= 6000
        worst = job.est_slots / job.iterations
        for r in (1, min(job.gpus, len(instance.server_gpus))):
            for p in (rates.levels(r)[0], rates.levels(r)[-1]):
                tau = float(rates.iteration_slots(j, r, p))
                assert 0.01 - 1e-8 <= tau <= worst + 1e-8 <= 0.05 + 2e-8


def test_lower_calibration_level_brings_more_contention() -> None:
    mild, strong = (paper(np.random.default_rng(0), p_cal=p) for p in (32, 3))
    assert strong.rates.exec_max.sum() > mild.rates.exec_max.sum()


def test_scale_grows_the_cluster_with_the_jobs() -> None:
    instance = scale(np.random.default_rng(0), jobs=800)
    assert (len(instance.jobs), len(instance.server_gpus)) == (800, 100)
