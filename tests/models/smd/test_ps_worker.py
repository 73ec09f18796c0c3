"""The completion time of jobs with parameter servers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gadgetopt.models.smd.iteration_time import Layer
from gadgetopt.models.smd.ps_worker import CompletionTime, PsWorkerJob

SYNC = {
    "sgd_mode": "sync",
    "iterations": 1.0,
    "model_size_mb": 500.0,
    "ps_bandwidth_gbps": 1.0,
    "global_batch_size": 60.0,
    "fp_time_per_sample_s": 1.0,
    "bp_time_s": 3.0,
    "overhead_per_worker_s": 1.0,
    "overhead_per_ps_s": 1.0,
}
ASYNC = {
    **SYNC,
    "sgd_mode": "async",
    "minibatch_size": 60.0,
    "bp_time_s": 12.0,
    "concurrency_fraction": 0.5,
}
LAYERS = tuple(Layer(bp_s=1.0, fp_s=f, comm_s=r) for f, r in ((1.0, 2.0), (1.5, 2.0), (0.5, 2.0)))
JOBS = st.builds(
    PsWorkerJob,
    sgd_mode=st.sampled_from(["sync", "async"]),
    iterations=st.floats(1, 200),
    model_size_mb=st.floats(1, 600),
    ps_bandwidth_gbps=st.floats(1, 20),
    global_batch_size=st.floats(1, 1e4),
    minibatch_size=st.floats(1, 100),
    fp_time_per_sample_s=st.floats(0.01, 50),
    bp_time_s=st.floats(0, 30),
    overhead_per_worker_s=st.floats(0, 4),
    overhead_per_ps_s=st.floats(0, 0.1),
    concurrency_fraction=st.floats(0, 1),
    eta_fp=st.floats(0.1, 1),
    eta_bp=st.floats(0.1, 1),
    eta_comm=st.floats(0.1, 1),
)
COUNTS = st.integers(1, 50)


def test_hand_checked_synchronous_job():
    # g_hat = 8 * 500 / 1000 = 4; tau = w + p + 3 + 8 w/p + 60/w.
    tau = PsWorkerJob(**SYNC).completion_time

    assert tau == CompletionTime(constant=3.0, per_w=1.0, per_p=1.0, w_over_p=8.0, one_over_w=60.0)
    assert tau.at(3, 4) == 36.0


def test_hand_checked_asynchronous_job():
    # tau = 1 + p/w + 72/w + 4/p.
    tau = PsWorkerJob(**ASYNC).completion_time

    assert tau == CompletionTime(constant=1.0, p_over_w=1.0, one_over_w=72.0, one_over_p=4.0)
    assert tau.at(4, 2) == 21.5


@given(JOBS, COUNTS, COUNTS)
def test_the_monomials_are_the_papers_formula(job, w, p):
    eta_1, eta_2, eta_3 = job.eta
    synchronous = job.sgd_mode == "sync"
    g_hat = 8 * job.model_size_mb / (1000 * job.ps_bandwidth_gbps)
    at_once = w if synchronous else job.concurrency_fraction * w
    batch = job.global_batch_size / w if synchronous else job.minibatch_size
    iteration = (
        eta_1 * batch * job.fp_time_per_sample_s
        + eta_2 * job.bp_time_s
        + eta_3 * 2 * g_hat * at_once / p
        + job.overhead_per_worker_s * w
        + job.overhead_per_ps_s * p
    )
    steps = job.iterations if synchronous else job.iterations / w

    assert job.completion_time.at(w, p) == pytest.approx(steps * iteration, rel=1e-12)


def test_layers_give_times_and_fractions_that_are_left_out():
    # Layer totals: f = 3, b = 3, r = 6; wait-free, b = r = 1, 2 as in E1: eta = (1, 1/3, 2/3).
    bare = {k: v for k, v in SYNC.items() if k not in ("fp_time_per_sample_s", "bp_time_s")}
    job = PsWorkerJob(**bare, layers=LAYERS, overlap="wait_free")

    assert job.eta == pytest.approx((1, 1 / 3, 2 / 3))
    assert job.completion_time.one_over_w == pytest.approx(60 * 3.0)
    assert job.completion_time.constant == pytest.approx(3.0 / 3)
    assert job.completion_time.w_over_p == pytest.approx(8.0 * 2 / 3)


def test_given_fractions_win_over_layers():
    job = PsWorkerJob(**SYNC, layers=LAYERS, overlap="wait_free", eta_bp=0.5)

    assert job.eta == pytest.approx((1, 0.5, 2 / 3))


@pytest.mark.parametrize(
    ("left_out", "of"),
    [
        ("global_batch_size", SYNC),
        ("minibatch_size", ASYNC),
        ("fp_time_per_sample_s", SYNC),
        ("bp_time_s", SYNC),
    ],
)
def test_what_a_mode_needs_is_asked_for_by_name(left_out, of):
    fields = {name: value for name, value in of.items() if name != left_out}

    with pytest.raises(ValidationError, match=f"{left_out}: missing"):
        PsWorkerJob(**fields)
