"""Iteration time of ring-all-reduce, equation (1)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.gadget.data.generate import presets as generate
from gadgetopt.models.gadget.data.generate.timing import RingTiming

RING = RingTiming(
    gradient_mbit=800,
    bandwidth_mbps=5000,
    reduce_mbps=20000,
    forward_s_per_sample=0.001,
    minibatch_samples=64,
    backward_s=0.1,
    overhead_s=0.01,
)


def test_a_ring_of_four():
    # 800 * 3/4 = 600 Mbit, times 0.0004 + 0.00005, and 0.064 + 0.1 + 0.01.
    assert RING.iteration_s(4) == pytest.approx(0.444, abs=1e-12)


def test_one_worker_sends_nothing():
    assert RING.iteration_s(1) == pytest.approx(0.174, abs=1e-12)


@given(st.integers(1, 10**6))
def test_more_workers_take_longer_up_to_the_limit(workers):
    assert RING.iteration_s(workers) <= RING.iteration_s(workers + 1) <= RING.iteration_s(math.inf)
    conservative = RING.iterations_per_worker_slot(3600)
    assert conservative <= RING.iterations_per_worker_slot(3600, workers)


def test_no_worker_has_no_iteration():
    with pytest.raises(ValueError, match="workers"):
        RING.iteration_s(0)


@pytest.mark.parametrize("at", ["infinite", "largest"])
def test_jobs_of_the_preset_make_the_progress_of_their_ring(at):
    timed = generate.timed(np.random.default_rng(1), progress_at=at)
    # The same draws: only the size at which (1) is evaluated differs.
    other = generate.timed(np.random.default_rng(1), progress_at="infinite")
    for job, slow in zip(timed.jobs, other.jobs, strict=True):
        assert job.iterations_per_worker_slot >= slow.iterations_per_worker_slot
        assert job.max_worker_slots >= 1
