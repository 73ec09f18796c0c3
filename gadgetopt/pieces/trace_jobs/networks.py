r"""What a job of a trace trains: its network, the time of an iteration, and what that moves.

A trace tells a job's GPUs and how long they ran, at best the name of its network. Everything else
is that of one of eight networks (reconstructed): the one that the trace names, else one that is
chosen by what the job's recurrences have in common, so that recurring jobs train the same.

CPUs, memory and parameter servers are those of the trace where it tells them, else the same for
all (reconstructed).

Sizes are counts of the published models (torchvision; BERT base and GPT-2 small by their model
cards; the two agents recalled), gradients of 4 bytes a parameter. Times of an iteration are the
measurements of the Muri simulator on servers of eight GPUs, whose batches are taken to be per GPU
(reconstructed). A backward pass takes twice as long as the forward pass (reconstructed).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pandas as pd

from gadgetopt.numbers.tolerance import decimal_rational


@dataclass(frozen=True)
class Network:
    """A network, and how long its iterations take.

    Attributes
    ----------
    name : str
    parameters_millions : float
    batch : int
        Samples of an iteration on one GPU.
    iteration_ms : tuple of int
        On 1, 2, 4, 8, 16 and 32 GPUs.
    """

    name: str
    parameters_millions: float
    batch: int
    iteration_ms: tuple[int, ...]

    @property
    def gradient_mbyte(self) -> float:
        """MB of 10^6 bytes of the gradients."""
        return round(4 * self.parameters_millions, 3)

    @property
    def gradient_mbit(self) -> float:
        """Mbit of the gradients."""
        return round(32 * self.parameters_millions, 3)

    @property
    def alone_s(self) -> float:
        """Seconds of an iteration on one GPU."""
        return self.iteration_ms[0] / 1000

    @property
    def forward_s_per_sample(self) -> float:
        """Seconds of the forward pass of a sample, a third of the time of its iteration."""
        return round(self.alone_s / 3 / self.batch, 9)

    @property
    def backward_s(self) -> float:
        """Seconds of the backward pass of a batch, two thirds of the time of its iteration."""
        return round(self.alone_s * 2 / 3, 6)


#: CPUs and GB of memory of a worker or a parameter server (reconstructed). By definition.
CPUS, MEMORY_GB = 4.0, 32.0
#: Workers for which a job has one parameter server (reconstructed). By definition.
WORKERS_PER_SERVER = 4

NETWORKS = {
    network.name: network
    for network in (
        Network("vgg16", 138.36, 16, (107, 191, 201, 214, 332, 336)),
        Network("vgg19", 143.67, 16, (109, 205, 212, 226, 302, 356)),
        Network("resnet18", 11.69, 128, (779, 881, 921, 1010, 1055, 1059)),
        Network("shufflenet_v2_x1_0", 2.28, 128, (798, 850, 886, 957, 1006, 1019)),
        Network("bert", 110.0, 4, (178, 195, 190, 192, 244, 260)),
        Network("gpt2", 124.0, 4, (426, 464, 433, 437, 491, 514)),
        Network("a2c", 1.7, 64, (517, 525, 533, 555, 567, 585)),
        Network("dqn", 1.7, 128, (490, 495, 505, 509, 525, 546)),
    )
}


@dataclass(frozen=True)
class TracedJob:
    """A job of a trace with what its network adds.

    Attributes
    ----------
    place : str
        File and line.
    submit_s, duration_s : float
    gpus : int
    gpu_share : float
        What it takes of each of them, 1 or less.
    network : Network
    iterations : int
        Those of the trace, else its duration over the time of an iteration.
    worker, server : (float, float, float)
        GPUs, CPUs and GB of memory of a worker, which has one GPU, and of a parameter server.
    servers : int
        Parameter servers: those of the trace, else one for every `WORKERS_PER_SERVER` workers.
    defaulted : tuple of str
        What the trace does not tell: of network, iterations, cpus, memory, servers, server_cpus and
        server_memory.
    """

    place: str
    submit_s: float
    duration_s: float
    gpus: int
    gpu_share: float
    network: Network
    iterations: int
    worker: tuple[float, float, float]
    server: tuple[float, float, float]
    servers: int
    defaulted: tuple[str, ...]


def traced_job(row: Any) -> TracedJob:
    """Return the job of a row of `gadgetopt.pieces.traces.Trace.jobs`."""
    gpus, share = int(row.gpus), getattr(row, "gpu_share", None)
    place = f"{row.file}:{row.line}"
    known = row.model if isinstance(row.model, str) and row.model in NETWORKS else None
    network = NETWORKS[known or network_of(recurrence(row) or place)]
    stated = not pd.isna(row.iterations)
    defaulted = [] if known else ["network"]
    if not stated:
        defaulted.append("iterations")

    def told(column: str, default: float, name: str) -> float:
        amount = getattr(row, column, None)
        if not pd.isna(amount) and amount > 0:
            return round(float(amount), 6)
        defaulted.append(name)
        return default

    usual = float(-(-gpus // WORKERS_PER_SERVER))
    worker = (
        told("cpus_per_gpu", CPUS, "cpus"),
        told("memory_gb_per_gpu", MEMORY_GB, "memory"),
    )
    servers = told("ps_number", usual, "servers")
    server = (
        told("ps_cpus", CPUS, "server_cpus"),
        told("ps_memory_gb", MEMORY_GB, "server_memory"),
    )
    counted = row.iterations if stated else row.duration_s / float(measured_s(network.name, gpus))
    return TracedJob(
        place=place,
        submit_s=float(row.submit_s),
        duration_s=float(row.duration_s),
        gpus=gpus,
        gpu_share=1.0 if pd.isna(share) else round(float(share), 6),
        network=network,
        iterations=max(1, round(counted)),
        worker=(1.0, *worker),
        server=(0.0, *server),
        servers=round(servers),
        defaulted=tuple(defaulted),
    )


def recurrence(row: Any) -> str:
    """Return what jobs that repeat each other have in common, empty if nothing is known."""
    if isinstance(row.group, str):
        return row.group
    if isinstance(row.user, str):
        return f"{row.user}:{row.gpus}"
    return f"{row.model}:{row.gpus}:{row.batch_size}" if isinstance(row.model, str) else ""


def network_of(text: str) -> str:
    """Return a network for a text that identifies a job or its group, always the same one."""
    names = sorted(NETWORKS)
    digest = hashlib.sha256(text.encode()).digest()
    return names[int.from_bytes(digest[:8]) % len(names)]


def measured_s(network: str, gpus: int) -> Fraction:
    """Return the measured time of an iteration on the next power of two of GPUs."""
    times = NETWORKS[network].iteration_ms
    return decimal_rational(times[min((gpus - 1).bit_length(), len(times) - 1)]) / 1000
