"""Completion times with the overlap evaluated at every pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.smd.iteration_time import Layer, critical_path
from gadgetopt.models.smd.subproblems.inner import pairs
from gadgetopt.models.smd.subproblems.layer_timing import best_layer_exact_pair, layer_exact_pairs

from ..inner_jobs import E2, TOO_SMALL, jobs

TIMES = st.floats(0.1, 2)
LAYERS = st.lists(st.builds(Layer, bp_s=TIMES, fp_s=TIMES, comm_s=TIMES), min_size=1, max_size=5)
OVERLAPS = st.sampled_from(["sequential", "wait_free", "priority"])


def with_layers(job, layers, overlap, slice_s=0.1):
    return job.model_copy(update={"layers": tuple(layers), "overlap": overlap, "slice_s": slice_s})


@settings(max_examples=40)
@given(jobs(60, 40), LAYERS, OVERLAPS)
def test_times_are_those_of_the_layers_scaled_at_every_pair(job, layers, overlap):
    job = with_layers(job, layers, overlap)
    f, b, r = (sum(getattr(layer, x) for layer in layers) for x in ("fp_s", "bp_s", "comm_s"))
    table = layer_exact_pairs(job)
    for k in range(0, len(table), max(1, len(table) // 10)):
        w, p = int(table.w[k]), int(table.p[k])
        synchronous = job.sgd_mode == "sync"
        batch = job.global_batch_size / w if synchronous else job.minibatch_size
        at_once = w if synchronous else job.concurrency_fraction * w
        model_s = 8 * job.model_size_mb / (1000 * job.ps_bandwidth_gbps) * at_once / p
        scaled = [
            Layer(
                fp_s=layer.fp_s / f * job.fp_time_per_sample_s * batch,
                bp_s=layer.bp_s / b * job.bp_time_s,
                comm_s=layer.comm_s / r * model_s,
            )
            for layer in layers
        ]
        path = critical_path(scaled, overlap, job.slice_s / r * model_s)
        iteration = (
            path.total_s + job.overhead_per_worker_s * w + job.overhead_per_ps_s * p
        ) * job.iterations

        assert table.tau_s[k] == pytest.approx(iteration / (1 if synchronous else w), rel=1e-12)


@given(jobs(), LAYERS)
def test_without_overlap_nothing_changes(job, layers):
    job = with_layers(job, layers, "sequential")

    np.testing.assert_allclose(layer_exact_pairs(job).tau_s, pairs(job).tau_s, rtol=1e-12)


@given(jobs(), LAYERS, OVERLAPS)
def test_overlap_never_takes_longer(job, layers, overlap):
    overlapped = layer_exact_pairs(with_layers(job, layers, overlap, 0.0))
    sequential = layer_exact_pairs(with_layers(job, layers, "sequential"))

    assert (overlapped.tau_s <= sequential.tau_s * (1 + 1e-12)).all()


def test_the_best_pair_may_change():
    # Three equal layers, wait-free. Frozen: eta = (1, 1/3, 2/3), from r = 2 and b = f = 1 s.
    layers = [Layer(bp_s=1.0, fp_s=1.0, comm_s=2.0)] * 3
    job = with_layers(E2, layers, "wait_free")
    table = layer_exact_pairs(job)

    # (1, 1): b = 1 each, r = 4/3 each: 1 + 4 * 4/3 + 60 + 2 = 68 1/3.
    assert table.tau_s[0] == pytest.approx(68 + 1 / 3)
    assert best_layer_exact_pair(job).tau_s == table.tau_s.min()


def test_a_job_without_layers_is_refused():
    with pytest.raises(ModelRefused, match="needs the layers"):
        layer_exact_pairs(E2)


def test_lemma_2_as_printed_is_refused():
    layers = [Layer(bp_s=1.0, fp_s=1.0, comm_s=2.0)]
    job = with_layers(E2, layers, "priority").model_copy(update={"lemma_2": "as_printed"})

    with pytest.raises(ModelRefused, match="corrected Lemma 2"):
        layer_exact_pairs(job)


def test_a_job_of_which_nothing_fits_has_no_pair():
    layers = [Layer(bp_s=1.0, fp_s=1.0, comm_s=2.0)]

    assert best_layer_exact_pair(with_layers(TOO_SMALL, layers, "wait_free")) is None
