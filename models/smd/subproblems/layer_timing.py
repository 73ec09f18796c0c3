r"""Completion times with the overlap evaluated at every pair of workers and servers.

The paper computes :math:`\eta` once and freezes it, although the overlap depends on the batch and
on w/p. As pairs are enumerated anyway, (W) and (P) of `gadgetopt.models.smd.iteration_time` can be
evaluated at each of them (reconstructed). A layer's forward time is its part of the batch's, its
transfer its part of that of the whole model with w' workers at once (w when synchronous, alpha w
else):

.. math::
    f_j(w) = \frac{f_j}{\sum f} t_f \cdot \text{batch}, \qquad
    b_j = \frac{b_j}{\sum b} t_b, \qquad
    r_j(w, p) = \frac{r_j}{\sum r} \hat g \frac{w'}{p}

and the slice of the priority model scales like the transfers. Without overlap these are equations
(14) and (17) of the technical report (TR, arXiv 2105.13855).
"""

from __future__ import annotations

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats

from ..instance import Job
from .inner import (
    Pair,
    PairTable,
    first_best,
    pairs,
)

#: Number of pairs whose layers are evaluated together.
CHUNK = 10**4


def layer_exact_pairs(job: Job) -> PairTable:
    """Return all pairs that fit, and their times with the overlap at each of them.

    Overlap fractions that the job states are ignored. Takes O(pairs times layers).

    Raises
    ------
    ModelRefused
        If the job has no layers, a phase of all its layers takes no time, its priority model is
        Lemma 2 as printed, or there are too many pairs.
    """
    if not job.layers:
        raise ModelRefused("the overlap at every pair needs the layers of the job")
    if job.overlap == "priority" and job.lemma_2 == "as_printed":
        raise ModelRefused("the overlap at every pair is that of the corrected Lemma 2")
    table = pairs(job)
    w, p = table.w.astype(float), table.p.astype(float)
    E, beta_1, beta_2 = job.iterations, job.overhead_per_worker_s, job.overhead_per_ps_s
    synchronous = job.sgd_mode == "sync"
    at_once = w if synchronous else job.concurrency_fraction * w
    batch = (job.global_batch_size or 0.0) / w if synchronous else job.minibatch_size or 0.0
    g_hat = 8 * job.model_size_mb / (1000 * job.ps_bandwidth_gbps)
    iteration = beta_1 * w + beta_2 * p
    iteration += _iteration_times(job, np.broadcast_to(batch, w.shape), g_hat * at_once / p)
    return PairTable(table.w, table.p, E * iteration / (1.0 if synchronous else w))


def best_layer_exact_pair(job: Job) -> Pair | None:
    """Return the pair of the least time with the overlap at each pair; None if nothing fits."""
    return first_best(layer_exact_pairs(job))


def _iteration_times(job: Job, batch: Floats, transfer: Floats) -> Floats:
    """Iteration without overheads; batch sizes and times of one transfer of the model."""
    t_f, t_b = job.fp_time_per_sample_s, job.bp_time_s
    f = _parts([layer.fp_s for layer in job.layers], t_f, "forward")
    b = _parts([layer.bp_s for layer in job.layers], t_b, "backward")
    r = _parts([layer.comm_s for layer in job.layers], 1.0, "transfer")
    slices = job.slice_s / sum(layer.comm_s for layer in job.layers)
    if job.overlap == "sequential":
        return f.sum() * batch + b.sum() + 2 * transfer
    backward_from, transfer_to = np.cumsum(b[::-1])[::-1], np.cumsum(r)
    if job.overlap == "wait_free":
        transfers, forward = transfer_to + np.maximum.accumulate(r), np.full(len(f), f.sum())
    else:
        transfers, forward = transfer_to + slices, np.cumsum(f[::-1])[::-1]
    # The critical path goes through one layer, in either model.
    times = [
        (backward_from + np.outer(y, transfers) + np.outer(x, forward)).max(axis=1)
        for x, y in (
            (batch[at : at + CHUNK], transfer[at : at + CHUNK])
            for at in range(0, len(batch), CHUNK)
        )
    ]
    return np.concatenate([np.zeros(0), *times])


def _parts(of_layers: list[float], total: float | None, phase: str) -> Floats:
    """Return the layers' times, scaled to the total of the job if that is given."""
    times = np.array(of_layers)
    if total is None or total == 0:
        return times if total is None else np.zeros(len(times))
    if times.sum() == 0:
        raise ModelRefused(f"the layers' {phase} times are all zero, so that they have no parts")
    return np.asarray(times * (total / times.sum()), dtype=np.float64)
