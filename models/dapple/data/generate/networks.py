"""Synthetic chains with the totals of the paper's networks, on its hardware.

Parameters, global batches and microbatches of the networks, and the speeds of links, are the
paper's as recalled (reconstructed). The machines, and XLNet's batches, are those of the notes that
the authors publish with their planner (`PLANNER_REPRODUCTION.md` of AlibabaPAI/DAPPLE); totals of
time are those of their published profiles. The shapes are ours: layers of a transformer are alike
within noise; the parameters of VGG-19 are nearly all in its last layers, its time and activations
in the first; those of AmoebaNet grow towards the end. ResNet-50 is not among the published profiles
and is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.system.declaring import generator

if TYPE_CHECKING:
    from gadgetopt.numbers.arrays import Floats

    from ...instance import DappleInstance

Model = Literal["gnmt16", "bert48", "xlnet36", "vgg19", "amoebanet36"]
Hardware = Literal["A", "B", "C"]


@dataclass(frozen=True)
class Network:
    """Totals of a network for one microbatch.

    Attributes
    ----------
    layers : int
    compute_s : float
        Forward and backward time of all layers.
    param_bytes : float
    act_bytes : float
        Mean over the boundaries.
    microbatches : int
        Global batch over microbatch.
    shape : "even", "front" or "growing"
    """

    layers: int
    compute_s: float
    param_bytes: float
    act_bytes: float
    microbatches: int
    shape: Literal["even", "front", "growing"]


NETWORKS: dict[str, Network] = {
    "gnmt16": Network(16, 0.2489, 1.163e9, 10e6, 16, "even"),
    "bert48": Network(48, 0.3438, 2.550e9, 4.3e6, 32, "even"),
    "xlnet36": Network(36, 0.3007, 2.003e9, 2e6, 128, "even"),
    "vgg19": Network(19, 0.1442, 5.480e8, 60e6, 64, "front"),
    "amoebanet36": Network(36, 0.1681, 3.731e9, 12e6, 128, "growing"),
}

#: GPUs of each machine, and bytes a second between machines.
HARDWARE: dict[str, tuple[tuple[int, ...], float]] = {
    "A": ((8, 8), 3.125e9),
    "B": ((1,) * 16, 3.125e9),
    "C": ((1,) * 16, 1.25e9),
}

#: Bytes a second inside machines, of transfers and of AllReduce (reconstructed).
_INTRA = 25e9
_ALLREDUCE_INTRA = 100e9


@generator()
def paper(
    rng: np.random.Generator,
    *,
    model: Model = "bert48",
    hardware: Hardware = "A",
    noise: float = 0.05,
    microbatches: int = 0,
) -> DappleInstance:
    """Chains like the paper's networks on its hardware A, B or C.

    Parameters
    ----------
    rng : numpy.random.Generator
    model : str
        "gnmt16", "bert48", "xlnet36", "vgg19" or "amoebanet36".
    hardware : "A", "B" or "C"
        Two machines of eight GPUs at 25 Gb/s; sixteen machines of one GPU at 25 or 10 Gb/s.
    noise : float
        Times vary by that factor, log-normal.
    microbatches : int
        0: global batch over microbatch, as in the paper.
    """
    from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
    from gadgetopt.pieces.pipeline.instance import Layer

    from ...instance import DappleInstance

    if model not in NETWORKS:
        raise InputError(f"model: {model!r}, expected one of {', '.join(NETWORKS)}")
    if hardware not in HARDWARE:
        raise InputError(f"hardware: {hardware!r}, expected one of {', '.join(HARDWARE)}")
    network = NETWORKS[model]
    time, params, act = _shape(network)
    time = time * np.exp(noise * rng.standard_normal(network.layers))
    time *= network.compute_s / time.sum()
    layers = tuple(
        Layer(
            fwd_time_s=round(float(t) / 3, 8),
            bwd_time_s=round(2 * float(t) / 3, 8),
            param_bytes=float(round(w)),
            act_bytes=float(round(d)),
        )
        for t, w, d in zip(time, params, act, strict=True)
    )
    sizes, inter = HARDWARE[hardware]
    cluster = TwoLevelCluster(
        gpus_per_machine=sizes,
        intra_bytes_per_s=_INTRA,
        inter_bytes_per_s=inter,
        allreduce_intra_bytes_per_s=_ALLREDUCE_INTRA,
    )
    return DappleInstance(
        layers=layers,
        num_microbatches=microbatches or network.microbatches,
        cluster=cluster,
    )


def _shape(network: Network) -> tuple[Floats, Floats, Floats]:
    """Return time, parameters and activations of each layer."""
    depth = np.linspace(0, 1, network.layers)
    even = np.ones(network.layers)
    if network.shape == "front":  # three fully connected layers after a shrinking image
        time = 2.0 ** (-2 * depth)
        params = np.where(np.arange(network.layers) < network.layers - 3, 1.0, 30.0)
        act = 2.0 ** (-7 * depth)
    elif network.shape == "growing":
        time, params, act = even, 4.0**depth, even
    else:
        time = params = act = even
    return (
        network.compute_s * time / time.sum(),
        network.param_bytes * params / params.sum(),
        network.act_bytes * network.layers * act / act.sum(),
    )
