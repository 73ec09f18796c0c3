r"""Job types for the jobs of a trace, calibrated to measured iteration times.

A trace tells a job's GPUs, at best its network; it tells no stages and no volumes. Public
measurements of eight networks (those of the Muri simulator, on servers of eight GPUs) tell how long
an iteration takes on 1 to 32 GPUs, and so how much slower a network is on two servers than on one.
A type is chosen such that it has (reconstructed)

- on the empty cluster the stated iteration time, or else the measured one;
- scattered over servers, as much more time as the measurement on 16 GPUs adds to that on 8, in
  proportion to :math:`2 (k - 1) / k`, what a ring of k replicas sends.

Language models of an even number of GPUs, at least four, are pipelines of two stages; everything
else is data-parallel.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.trace_jobs.networks import NETWORKS, measured_s, network_of

from ...instance import JobType

_PIPELINES = ("bert", "gpt2")
#: Microbatches of an iteration of these pipelines (reconstructed).
_MICROBATCHES = 4

#: Activations of a pipeline, as a part of its gradients (reconstructed).
_ACTIVATION_SHARE = Fraction(1, 10)


def calibrated_type(
    network: str,
    gpus: int,
    iteration_s: Fraction,
    *,
    gpus_per_server: Sequence[int],
    intra: Fraction,
    inter: Fraction,
) -> JobType:
    """Return a job type that takes `iteration_s` on the empty cluster.

    Parameters
    ----------
    network : str
        One of `NETWORKS`, or another one, which is then given the slow-down of one of them.
    gpus : int
    iteration_s : Fraction
    gpus_per_server : sequence of int
    intra, inter : Fraction
        GB/s that a GPU has within a server and between servers.
    """
    known = network if network in NETWORKS else network_of(network)
    on_8, on_16 = measured_s(known, 8), measured_s(known, 16)
    # Scattering costs as much more of an iteration as on 16 GPUs, for rings of any length.
    extra_s = (on_16 - on_8) / on_8 * iteration_s
    gap = 1 / inter - 1 / intra
    pipeline = known in _PIPELINES and gpus >= 4 and gpus % 2 == 0
    replicas = (gpus // 2, gpus // 2) if pipeline else (gpus,)
    factor = Fraction(_MICROBATCHES + len(replicas) - 1, _MICROBATCHES)
    gradient = _rounded(extra_s / gap * Fraction(16, 2 * 15)) if gap and gpus > 1 else Fraction(0)
    activation = _rounded(_ACTIVATION_SHARE * gradient) if pipeline else Fraction(0)
    k = replicas[0]
    whole = gpus <= max(gpus_per_server)
    stage_whole = whole or k <= max(gpus_per_server)
    ring_s = 2 * Fraction(k - 1, k) * gradient / (intra if stage_whole else inter)
    transfer_s = activation / k / (intra if whole else inter)
    compute_s = max(Fraction(0), (iteration_s - ring_s) / factor - transfer_s)
    return JobType(
        replicas=replicas,
        stage_time_s=(_rounded(compute_s),) * len(replicas),
        activation_gbytes=(activation,) * (len(replicas) - 1),
        gradient_gbytes=(gradient,) * len(replicas),
        pipeline_factor=factor,
        name=network,
    )


def _rounded(value: Fraction) -> Fraction:
    """Round to six decimals, which keeps the numbers of files short."""
    return decimal_rational(round(float(value), 6))
