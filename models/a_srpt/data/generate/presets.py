"""Presets; all of their numbers are reconstructed or this project's own.

The generator of `paper`, `low_load` and `overload` is that of `random_jobs`; `recurring` repeats
templates of real networks; `tensor_parallel` has blocks of GPUs; `pool` has no servers to choose
from.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.system.declaring import generator

from ...instance import (
    ASrptInstance,
    Job,
    JobType,
)
from .random_jobs import (
    INTRA_GBYTES_PER_S,
    NIC_GBYTES_PER_S,
    random_instance,
    random_iterations,
    random_type,
    with_load,
)
from .transformers import transformer

#: Sizes of jobs in the pool preset.
_POOL_SIZES = (1, 1, 2, 2, 4, 4, 8, 8, 16)
_POOL_GPUS = 32

#: Relative noise of a recurring job's iterations, and its possible batch sizes.
_RUN_NOISE = 0.15
_BATCH_SIZES = (32, 64, 128)


@generator()
def quickstart(rng: np.random.Generator, *, jobs: int = 8) -> ASrptInstance:
    """A few jobs on three servers of four GPUs.

    Draw an instance that exact methods close: few jobs on three servers of four GPUs.
    """
    return random_instance(
        rng,
        jobs=jobs,
        servers=3,
        gpus_per_server=4,
        load=2.0,
        largest_job_gpus=6,
        fewest_iterations=100,
        most_iterations=2000,
        tick_s=60,
    )


@generator()
def paper(
    rng: np.random.Generator,
    *,
    jobs: int = 1000,
    servers: int = 32,
    gpus_per_server: int = 8,
    load: float = 1.2,
    fewest_iterations: int = 50,
    most_iterations: int = 20_000,
    tick_s: float = 10.0,
) -> ASrptInstance:
    """A thousand pipeline jobs on 32 servers of 8 GPUs, slightly overloaded.

    Draw an experiment of the paper's presumable scale.

    Parameters
    ----------
    rng : numpy.random.Generator
    jobs, servers, gpus_per_server : int
    load : float
        GPUs that the jobs need until the last release, by those of the cluster.
    fewest_iterations, most_iterations : int
        Of a job, log-uniform.
    tick_s : float
    """
    return random_instance(
        rng,
        jobs=jobs,
        servers=servers,
        gpus_per_server=gpus_per_server,
        load=load,
        largest_job_gpus=min(2 * gpus_per_server, servers * gpus_per_server),
        fewest_iterations=fewest_iterations,
        most_iterations=most_iterations,
        tick_s=tick_s,
    )


@generator()
def low_load(
    rng: np.random.Generator, *, jobs: int = 300, servers: int = 8, load: float = 0.5
) -> ASrptInstance:
    """Jobs that hardly queue: what is lost is lost to placement."""
    return paper(rng, jobs=jobs, servers=servers, load=load)


@generator()
def overload(
    rng: np.random.Generator, *, jobs: int = 1000, servers: int = 32, load: float = 3.0
) -> ASrptInstance:
    """Jobs that need three times the cluster while they arrive."""
    return paper(rng, jobs=jobs, servers=servers, load=load)


@generator()
def pool(
    rng: np.random.Generator, *, jobs: int = 30, load: float = 2.5, templates: int = 0
) -> ASrptInstance:
    """Rigid jobs on one server of 32 GPUs, where no mapping matters.

    Parameters
    ----------
    rng : numpy.random.Generator
    jobs : int
    load : float
        As in `paper`.
    templates : int
        Number of pairs of size and duration from which jobs are drawn; 0: each job is drawn.
    """
    if templates < 0:
        raise InputError(f"templates: {templates}, expected 0 or more")
    shapes = [
        (int(rng.choice(_POOL_SIZES)), random_iterations(rng, 1, 30))
        for _ in range(templates or jobs)
    ]
    drawn = [shapes[int(rng.integers(templates))] for _ in range(jobs)] if templates else shapes
    sizes = sorted({g for g, _ in drawn})
    instance = ASrptInstance(
        gpus_per_server=(_POOL_GPUS,),
        intra_bandwidth_gbytes_per_s=INTRA_GBYTES_PER_S,
        nic_bandwidth_gbytes_per_s=NIC_GBYTES_PER_S,
        job_types=tuple(
            JobType(replicas=(g,), stage_time_s=(Fraction(1),), gradient_gbytes=(Fraction(0),))
            for g in sizes
        ),
        jobs=tuple(Job(job_type=sizes.index(g), num_iterations=d) for g, d in drawn),
    )
    return with_load(instance, sorted(rng.uniform(size=jobs).tolist()), load)


@generator()
def tensor_parallel(
    rng: np.random.Generator,
    *,
    jobs: int = 100,
    servers: int = 8,
    gpus_per_server: int = 8,
    load: float = 1.2,
    most_block: int = 4,
    mixed: bool = False,
) -> ASrptInstance:
    """Transformers whose replicas are blocks of up to four GPUs of one server.

    Parameters
    ----------
    rng : numpy.random.Generator
    jobs, servers, gpus_per_server : int
    load : float
        As in `paper`.
    most_block : int
        GPUs of a block, at most.
    mixed : bool
        Whether each stage draws the size of its blocks, not each job.
    """
    if most_block < 1:
        raise InputError(f"most_block: {most_block}, expected 1 or more")
    largest = min(2, servers) * (gpus_per_server - gpus_per_server % 4 or gpus_per_server)
    block = min(most_block, gpus_per_server)
    types = tuple(transformer(rng, largest, block, mixed=mixed) for _ in range(jobs))
    instance = ASrptInstance(
        gpus_per_server=(gpus_per_server,) * servers,
        intra_bandwidth_gbytes_per_s=INTRA_GBYTES_PER_S,
        nic_bandwidth_gbytes_per_s=NIC_GBYTES_PER_S,
        tick_s=Fraction(10),
        job_types=types,
        jobs=tuple(
            Job(job_type=j, num_iterations=random_iterations(rng, 50, 20000)) for j in range(jobs)
        ),
    )
    return with_load(instance, sorted(rng.uniform(size=jobs).tolist()), load)


@generator()
def recurring(
    rng: np.random.Generator,
    *,
    jobs: int = 2000,
    servers: int = 16,
    gpus_per_server: int = 8,
    load: float = 1.2,
    groups: int = 60,
    one_off_share: float = 0.15,
) -> ASrptInstance:
    """Jobs that repeat earlier ones, with groups, users and batch sizes.

    Draw jobs most of which repeat earlier ones, so that their length can be predicted.

    Groups are as popular as Zipf's law says. A group fixes the job type, the user and the work, a
    run its batch size; iterations are inversely proportional to that, with 15 % of noise. Jobs of
    no group are drawn one by one.

    Parameters
    ----------
    rng : numpy.random.Generator
    jobs, servers, gpus_per_server : int
    load : float
        As in `paper`.
    groups : int
    one_off_share : float
        Chance that a job belongs to no group.
    """
    if not 0 <= one_off_share <= 1:
        raise InputError(f"one_off_share: {one_off_share:g}, expected a number between 0 and 1")
    largest = min(2, servers) * gpus_per_server
    users = max(1, groups // 3)
    types: list[JobType] = []
    work = []
    for _ in range(groups):
        types.append(random_type(rng, largest))
        work.append(random_iterations(rng, 50, 20000) * min(_BATCH_SIZES))
    user_of = rng.integers(users, size=groups)
    popularity = 1 / np.arange(1, groups + 1)
    popularity /= popularity.sum()
    drawn = []
    for _ in range(jobs):
        batch = int(rng.choice(_BATCH_SIZES))
        noise = math.exp(_RUN_NOISE * float(rng.standard_normal()))
        if rng.uniform() < one_off_share:
            types.append(random_type(rng, largest))
            kind, group, user = len(types) - 1, -1, int(rng.integers(users))
            samples = random_iterations(rng, 50, 20000) * min(_BATCH_SIZES)
        else:
            group = kind = int(rng.choice(groups, p=popularity))
            user, samples = int(user_of[group]), work[group]
        drawn.append(
            Job(
                job_type=kind,
                num_iterations=max(1, round(samples / batch * noise)),
                group_id=group,
                user_id=user,
                batch_size=batch,
            )
        )
    instance = ASrptInstance(
        gpus_per_server=(gpus_per_server,) * servers,
        intra_bandwidth_gbytes_per_s=INTRA_GBYTES_PER_S,
        nic_bandwidth_gbytes_per_s=NIC_GBYTES_PER_S,
        tick_s=Fraction(10),
        job_types=tuple(types),
        jobs=tuple(drawn),
    )
    return with_load(instance, sorted(rng.uniform(size=jobs).tolist()), load)
