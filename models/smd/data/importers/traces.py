r"""Instances from traces: the jobs of a scheduling interval, with parameter servers.

Of a trace a job has its GPUs, its iterations and its duration, and where the trace tells them its
CPUs, its memory and its parameter servers.
Its network, sizes and times are those of `gadgetopt.pieces.trace_jobs.networks`. All else is
reconstructed:

1. Training is synchronous, on as many samples an iteration as the GPUs of the trace hold.
2. A worker takes one GPU, a server none. Where the trace does not tell, each takes 4 CPUs and 32
   GB, and there is a server for every 4 GPUs. A job reserves what all of them take.
3. :math:`\gamma_1` is drawn from 1 to 100, :math:`\gamma_3` from 1.2 to 2 times the duration, and
   :math:`\gamma_2` from 4 to 6 over :math:`\gamma_3`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import PositiveFloat

from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.pieces.trace_jobs.networks import TracedJob
from gadgetopt.pieces.trace_jobs.windows import (
    HELP_OF_MACHINES,
    MachineOptions,
    import_windows,
)
from gadgetopt.pieces.utility import SigmoidUtility
from gadgetopt.system.declaring import importer

from ...instance import Job, SmdInstance


class Options(MachineOptions):
    """Options of all importers: those of `MachineOptions` and these.

    Attributes
    ----------
    interval_s : float
        Length of the scheduling interval.
    charging : "reserved" or "used"
    """

    interval_s: PositiveFloat = 14400.0
    charging: Literal["reserved", "used"] = "reserved"

    @property
    def length_s(self) -> float:
        """Length of a window."""
        return self.interval_s


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
        "interval_s": options.interval_s,
        "defaults": "network, volume, times of an iteration; see jobs_with_defaults",
        "drawn": "gamma_1, gamma_2, gamma_3",
    }


def _instance(jobs: Sequence[TracedJob], options: Options, rng: np.random.Generator) -> SmdInstance:
    return SmdInstance(
        resources=("gpu", "vcpu", "memory_gb"),
        capacity=tuple(options.servers * x for x in options.machine),
        charging=options.charging,
        jobs=tuple(_job(job, options, rng) for job in jobs),
    )


def _job(job: TracedJob, options: Options, rng: np.random.Generator) -> Job:
    network, workers = job.network, job.gpus
    limit = tuple(
        round(workers * o + job.servers * g, 6) for o, g in zip(job.worker, job.server, strict=True)
    )
    half_s = float(rng.uniform(1.2, 2)) * job.duration_s
    return Job(
        sgd_mode="sync",
        iterations=float(job.iterations),
        model_size_mb=network.gradient_mbyte,
        ps_bandwidth_gbps=options.nic_gbps,
        global_batch_size=float(network.batch * workers),
        fp_time_per_sample_s=network.forward_s_per_sample,
        bp_time_s=network.backward_s,
        worker_demand=job.worker,
        ps_demand=job.server,
        reservation_limit=limit,
        utility=SigmoidUtility(
            gamma1=round(float(rng.uniform(1, 100)), 3),
            gamma2=float(f"{float(rng.uniform(4, 6)) / half_s:.4g}"),
            gamma3=round(half_s, 1),
        ),
    )
