r"""Instances from traces: rings on a two-tier cluster of equal servers.

Of a trace a job has its arrival, its GPUs and its iterations.
Its network, sizes and times are those of `gadgetopt.pieces.trace_jobs.networks`. All else is
reconstructed:

1. Slot :math:`1 + \lfloor \text{submitted} / \text{slot} \rfloor`; the largest ring is the job's
   GPUs; a worker takes one GPU, or the share of one that the trace tells, at the times of a
   whole one.
2. A hop carries :math:`2 d (1 - 1/N)` Mbit an iteration, d being the gradients, in half of the time
   that an iteration takes on one GPU: that is b, within 100 Mbit/s and the network card.
3. :math:`\zeta` is the iterations of a slot by (1) at the largest ring.
4. The target :math:`\lambda_3` is the trace's iterations times GPUs, as a worker-slot makes
   :math:`\zeta` for each worker; budgets are 1.2 times the worker-slots of the target.
5. :math:`\lambda_2` is drawn from 1 to 10 over the target; :math:`\lambda_1` is drawn from 1 to
   100, or is the job's GPU-hours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import PositiveFloat, PositiveInt

from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.pieces.trace_jobs.networks import TracedJob
from gadgetopt.pieces.trace_jobs.windows import HELP, WindowOptions, import_windows
from gadgetopt.system.declaring import importer

from ...instance import GadgetInstance, Job, Rack, Server, TwoTier
from ...utility import Sigmoid
from ..generate.timing import RingTiming

#: Mbit/s at which a worker sums gradients, as in the preset `timed` (reconstructed).
_REDUCE_MBPS = 20_000.0
#: Least bandwidth that a ring reserves, the least of the paper's range.
_LEAST_MBPS = 100
#: Budget over the worker-slots of the target (reconstructed).
_BUDGET = 1.2


class Options(WindowOptions):
    """Options of all importers: those of `WindowOptions` and these.

    Attributes
    ----------
    horizon_slots : int
    slot_s : float
    arrival_share : float
        Jobs are those submitted within this share of the horizon.
    servers_per_rack : int
    oversubscription : float
        Bandwidth of a rack's servers over that of its uplink.
    priority : "drawn" or "gpu_hours"
        What a job is worth.
    work_scale : float
        Target over the trace's iterations.
    """

    horizon_slots: PositiveInt = 48
    slot_s: PositiveFloat = 1800.0
    arrival_share: PositiveFloat = 0.5
    servers_per_rack: PositiveInt = 4
    oversubscription: PositiveFloat = 4.0
    priority: Literal["drawn", "gpu_hours"] = "drawn"
    work_scale: PositiveFloat = 1.0

    @property
    def length_s(self) -> float:
        """Length of a window."""
        return min(1.0, self.arrival_share) * self.horizon_slots * self.slot_s

    @property
    def longest_s(self) -> float:
        """The longest duration to keep."""
        return self.max_duration_s or self.horizon_slots * self.slot_s


@importer(options=Options, help=HELP)
def philly(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """The condensed Microsoft Philly trace."""
    return import_windows("philly", files, rng, Options, options, _instance, _units)


@importer(options=Options, help=HELP)
def muri(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """Traces of the Muri simulator, with iterations and their times."""
    return import_windows("muri", files, rng, Options, options, _instance, _units)


@importer(name="alibaba-2020", options=Options, help=HELP)
def alibaba_2020(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """A folder with the tables of Alibaba's PAI trace."""
    return import_windows(
        "alibaba-2020", files, rng, Options, options, _instance, _units, shares=True
    )


@importer(name="alibaba-2023", options=Options, help=HELP)
def alibaba_2023(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """A list of pods of Alibaba's trace of 2023."""
    return import_windows(
        "alibaba-2023", files, rng, Options, options, _instance, _units, shares=True
    )


@importer(options=Options, help=HELP)
def helios(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """A cluster log of SenseTime's Helios."""
    return import_windows("helios", files, rng, Options, options, _instance, _units)


def _units(options: Options) -> Mapping[str, Any]:
    return {
        "slot_s": options.slot_s,
        "arrival_slot": "1 + submitted / slot_s, down",
        "defaults": "network, gradients, times of an iteration, bandwidth of a ring, budget",
        "drawn": "lambda_2" if options.priority == "gpu_hours" else "lambda_1, lambda_2",
    }


def _instance(
    jobs: Sequence[TracedJob], options: Options, rng: np.random.Generator
) -> GadgetInstance:
    access = round(1000 * options.nic_gbps)
    uplink = max(1, round(access * options.servers_per_rack / options.oversubscription))
    racks = -(-options.servers // options.servers_per_rack)
    gpus = (float(options.gpus_per_server),)
    return GadgetInstance(
        horizon_slots=options.horizon_slots,
        substrate=TwoTier(
            servers=tuple(
                Server(rack=s // options.servers_per_rack, capacity=gpus, access_mbps=access)
                for s in range(options.servers)
            ),
            racks=(Rack(uplink_mbps=uplink),) * racks,
        ),
        jobs=tuple(_job(job, options, access, rng) for job in jobs),
    )


def _job(job: TracedJob, options: Options, access_mbps: int, rng: np.random.Generator) -> Job:
    network, workers = job.network, job.gpus
    sent_mbit = 2 * network.gradient_mbit * (1 - 1 / workers)
    wanted = math.ceil(sent_mbit / (network.alone_s / 2))
    mbps = min(max(_LEAST_MBPS, wanted), max(_LEAST_MBPS, access_mbps))
    timing = RingTiming(
        gradient_mbit=network.gradient_mbit,
        bandwidth_mbps=float(mbps),
        reduce_mbps=_REDUCE_MBPS,
        forward_s_per_sample=network.forward_s_per_sample,
        minibatch_samples=float(network.batch),
        backward_s=network.backward_s,
    )
    zeta = round(timing.iterations_per_worker_slot(options.slot_s, workers), 3)
    target = round(job.iterations * workers * options.work_scale, 1)
    drawn, sensitivity = float(rng.uniform(1, 100)), float(rng.uniform(1, 10))
    hours = job.duration_s * workers * job.gpu_share / 3600
    return Job(
        arrival_slot=1 + int(job.submit_s / options.slot_s),
        max_workers=workers,
        worker_demand=(job.gpu_share,),
        max_worker_slots=math.ceil(_BUDGET * target / zeta),
        ring_bandwidth_mbps=mbps,
        iterations_per_worker_slot=zeta,
        utility=Sigmoid(
            priority=round(hours if options.priority == "gpu_hours" else drawn, 3),
            sensitivity=float(f"{sensitivity / target:.4g}"),
            target_iterations=target,
        ),
        name=job.place,
    )
