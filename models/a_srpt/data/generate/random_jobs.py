r"""Random job types, jobs and clusters (all of it reconstructed).

Stages, replicas, model sizes and activations are drawn from short lists, compute times and stage
shares uniformly, iterations log-uniformly. Releases are uniform over a span in which the jobs, each
at its speed on the empty cluster, need `load` times the GPUs there are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational

from ...instance import (
    ASrptInstance,
    Job,
    JobType,
)
from ...subproblems.mapper import Mapper

#: GB/s within a server per GPU, and of a server's network: 100 Gb/s.
INTRA_GBYTES_PER_S = Fraction(75, 2)
NIC_GBYTES_PER_S = Fraction(25, 2)

#: Stages of a job, replicas of a stage, parameters, activations, microbatches of an iteration, and
#: bytes of a parameter (reconstructed).
_STAGES = (1, 1, 2, 2, 3, 4)
_REPLICAS = (1, 2, 4)
_PARAMETERS = (60e6, 140e6, 340e6, 1500e6)
_ACTIVATION_GBYTES = (0.005, 0.02, 0.1, 0.4)
_MICROBATCHES = 4
_BYTES = 4


def random_type(rng: np.random.Generator, most_gpus: int) -> JobType:
    """Draw a pipeline of at most `most_gpus` GPUs; times are whole tenths of a millisecond."""
    while True:
        stages = int(rng.choice(_STAGES))
        replicas = tuple(int(k) for k in rng.choice(_REPLICAS, size=stages))
        if sum(replicas) <= most_gpus:
            break
    gradient_gbytes = _BYTES * float(rng.choice(_PARAMETERS)) / 1e9
    compute_s = float(rng.uniform(0.1, 0.8))
    shares = rng.uniform(0.5, 1.5, size=stages)
    shares = shares / shares.sum()
    return JobType(
        replicas=replicas,
        stage_time_s=tuple(_decimal(compute_s * float(x)) for x in shares),
        activation_gbytes=tuple(
            _decimal(float(a)) for a in rng.choice(_ACTIVATION_GBYTES, size=stages - 1)
        ),
        gradient_gbytes=tuple(_decimal(gradient_gbytes * float(x)) for x in shares),
        pipeline_factor=Fraction(_MICROBATCHES + stages - 1, _MICROBATCHES),
    )


def _decimal(value: float) -> Fraction:
    """Round to four decimals, which keeps the numbers of files short."""
    return decimal_rational(round(value, 4))


def random_iterations(rng: np.random.Generator, fewest: int, most: int) -> int:
    """Draw a number of iterations log-uniformly."""
    return max(1, round(math.exp(rng.uniform(math.log(fewest), math.log(most)))))


def with_load(instance: ASrptInstance, spread: Sequence[float], load: float) -> ASrptInstance:
    """Return the instance with releases such that its load is as asked for.

    Parameters
    ----------
    instance : ASrptInstance
    spread : sequence of float
        Release of each job as a part of the span, from 0 to 1, ascending.
    load : float
        GPUs that the jobs need over the span, by those of the cluster: more than 1 is overload.

    Raises
    ------
    InputError
        If the load is not positive: no span is long enough.
    """
    if not load > 0:
        raise InputError(f"load: {load:g}, expected more than 0")
    span = demand_ticks(instance) / load
    jobs = tuple(
        job.model_copy(update={"release_tick": int(part * span)})
        for job, part in zip(instance.jobs, spread, strict=True)
    )
    return instance.model_copy(update={"jobs": jobs})


def demand_ticks(instance: ASrptInstance) -> float:
    """Return how long all GPUs are busy with the jobs at their speed on the empty cluster."""
    mapper = Mapper(instance, "heavy_edge")
    work = 0.0
    for job, gpus in zip(instance.jobs, instance.gpus, strict=True):
        seconds = instance.times[job.job_type].seconds(mapper.on_empty_cluster(job.job_type))
        work += int(gpus) * job.num_iterations * float(seconds)
    return work / (float(instance.tick_s) * instance.total_gpus)


def random_instance(
    rng: np.random.Generator,
    *,
    jobs: int,
    servers: int,
    gpus_per_server: int,
    load: float,
    largest_job_gpus: int,
    fewest_iterations: int,
    most_iterations: int,
    tick_s: float,
) -> ASrptInstance:
    """Draw an instance in which every job has a type of its own."""
    types = tuple(random_type(rng, largest_job_gpus) for _ in range(jobs))
    iterations = [random_iterations(rng, fewest_iterations, most_iterations) for _ in range(jobs)]
    instance = ASrptInstance(
        gpus_per_server=(gpus_per_server,) * servers,
        intra_bandwidth_gbytes_per_s=INTRA_GBYTES_PER_S,
        nic_bandwidth_gbytes_per_s=NIC_GBYTES_PER_S,
        tick_s=decimal_rational(tick_s),
        job_types=types,
        jobs=tuple(Job(job_type=j, num_iterations=n) for j, n in enumerate(iterations)),
    )
    return with_load(instance, sorted(rng.uniform(size=jobs).tolist()), load)
