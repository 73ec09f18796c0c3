r"""Instances from traces: jobs with workers and parameter servers on equal machines.

Of a trace a job has its arrival, its GPUs, its iterations and its duration, and where the trace
tells them its CPUs, its memory and its parameter servers.
Its network, sizes and times are those of `gadgetopt.pieces.trace_jobs.networks`. All else is
reconstructed:

1. Slot :math:`1 + \lfloor \text{submitted} / \text{slot} \rfloor`.
2. The unit of work is a batch on one GPU: :math:`F` is the GPUs of the trace, :math:`E = 1`,
   :math:`K` is iterations times GPUs, and :math:`\tau` what a batch takes on one GPU.
3. A worker takes one GPU, a server none; where the trace does not tell, each takes 4 CPUs and 32
   GB, and a server serves 4 workers.
4. :math:`\theta_1` is drawn from 1 to 100, :math:`\theta_3` from once to twice the duration in
   slots, :math:`\theta_2` by the preset's classes: of 100 jobs 10 do not mind the time, 55 do, and
   for 35 it is critical.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import PositiveFloat, PositiveInt

from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.pieces.trace_jobs.networks import WORKERS_PER_SERVER, TracedJob
from gadgetopt.pieces.trace_jobs.windows import (
    HELP_OF_MACHINES,
    MachineOptions,
    import_windows,
)
from gadgetopt.system.declaring import importer

from ...instance import Job, Machine, PdOrsInstance, SlotSigmoid
from ..generate.presets import INTERNAL_GBPS, drawn_theta2


class Options(MachineOptions):
    """Options of all importers: those of `MachineOptions` and these.

    Attributes
    ----------
    horizon_slots : int
    slot_s : float
    arrival_share : float
        Jobs are those submitted within this share of the horizon.
    insensitive, critical : float
        Parts of jobs that do not mind the time, and for which it is critical.
    """

    horizon_slots: PositiveInt = 24
    slot_s: PositiveFloat = 3600.0
    arrival_share: PositiveFloat = 0.5
    insensitive: float = 0.1
    critical: float = 0.35

    @property
    def length_s(self) -> float:
        """Length of a window."""
        return min(1.0, self.arrival_share) * self.horizon_slots * self.slot_s

    @property
    def longest_s(self) -> float:
        """The longest duration to keep."""
        return self.max_duration_s or self.horizon_slots * self.slot_s


@importer(options=Options, help=HELP_OF_MACHINES)
def philly(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """The condensed Microsoft Philly trace."""
    return import_windows("philly", files, rng, Options, options, _instance, _units)


@importer(options=Options, help=HELP_OF_MACHINES)
def muri(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """Traces of the Muri simulator, with iterations and their times."""
    return import_windows("muri", files, rng, Options, options, _instance, _units)


@importer(name="alibaba-2020", options=Options, help=HELP_OF_MACHINES)
def alibaba_2020(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """A folder with the tables of Alibaba's PAI trace."""
    return import_windows("alibaba-2020", files, rng, Options, options, _instance, _units)


@importer(name="alibaba-2023", options=Options, help=HELP_OF_MACHINES)
def alibaba_2023(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """A list of pods of Alibaba's trace of 2023."""
    return import_windows("alibaba-2023", files, rng, Options, options, _instance, _units)


@importer(options=Options, help=HELP_OF_MACHINES)
def helios(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """A cluster log of SenseTime's Helios."""
    return import_windows("helios", files, rng, Options, options, _instance, _units)


def _units(options: Options) -> Mapping[str, Any]:
    return {
        "slot_s": options.slot_s,
        "arrival_slot": "1 + submitted / slot_s, down",
        "defaults": "network, gradients, times of an iteration, bandwidths; see jobs_with_defaults",
        "drawn": "theta_1, theta_2, theta_3",
    }


def _instance(
    jobs: Sequence[TracedJob], options: Options, rng: np.random.Generator
) -> PdOrsInstance:
    return PdOrsInstance(
        horizon_slots=options.horizon_slots,
        slot_s=options.slot_s,
        resources=("gpu", "vcpu", "memory_gb"),
        machines=(Machine(capacity=options.machine),) * options.servers,
        jobs=tuple(_job(job, options, rng) for job in jobs),
    )


def _workers_per_server(job: TracedJob) -> float:
    """Return how many workers a parameter server serves: those of the trace, or 4."""
    if "servers" in job.defaulted:
        return float(WORKERS_PER_SERVER)
    return round(job.gpus / job.servers, 6)


def _job(job: TracedJob, options: Options, rng: np.random.Generator) -> Job:
    network = job.network
    return Job(
        arrival_slot=1 + int(job.submit_s / options.slot_s),
        epochs=1,
        samples=job.iterations * job.gpus,
        global_batch=job.gpus,
        sample_time_slots=round(network.alone_s / options.slot_s, 9),
        gradient_gbit=round(network.gradient_mbit / 1000, 6),
        worker_ps_ratio=_workers_per_server(job),
        bandwidth_internal_gbps=max(INTERNAL_GBPS, options.nic_gbps),
        bandwidth_external_gbps=options.nic_gbps,
        worker_demand=job.worker,
        ps_demand=job.server,
        utility=SlotSigmoid(
            theta1=round(float(rng.uniform(1, 100)), 3),
            theta2=drawn_theta2(rng, options.insensitive, options.critical),
            theta3=round(float(rng.uniform(1, 2)) * job.duration_s / options.slot_s, 3),
        ),
        name=job.place,
    )
