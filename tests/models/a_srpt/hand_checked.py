"""The instances H1 to H4, checked by hand, and random instances for cross-checks."""

from fractions import Fraction

from gadgetopt.models.a_srpt.data.generate.random_jobs import random_instance
from gadgetopt.models.a_srpt.instance import ASrptInstance, Job, JobType


def decimals(*values):
    return tuple(Fraction(str(v)) for v in values)


def one_stage(gpus, compute_s=1, gradient_gbytes=0):
    return JobType(
        replicas=(gpus,),
        stage_time_s=decimals(compute_s),
        gradient_gbytes=decimals(gradient_gbytes),
    )


def cluster(gpus_per_server, intra, nic, types, jobs):
    return ASrptInstance(
        gpus_per_server=gpus_per_server,
        intra_bandwidth_gbytes_per_s=Fraction(intra),
        nic_bandwidth_gbytes_per_s=Fraction(nic),
        job_types=types,
        jobs=jobs,
    )


def alpha_max_s(instance):
    """alpha^max of every job type: each replica alone on a server."""
    return tuple(times.seconds(times.longest) for times in instance.times)


#: One stage per server: compute and transfers 0.1 + 0.05/1 = 0.15, ring 2 * 1/2 * 0.2/10 = 0.02.
H1 = cluster(
    (2, 2),
    10,
    2,
    (
        JobType(
            replicas=(2, 2),
            stage_time_s=decimals(0.1, 0.1),
            activation_gbytes=decimals(0.1),
            gradient_gbytes=decimals(0.2, 0.2),
        ),
    ),
    (Job(job_type=0, num_iterations=1),),
)

#: Free GPUs [3, 2] of servers of four: the vertex form takes the ring of stage 1 first and parts
#: stages 2 and 3, whose transfers are heavy.
H2 = cluster(
    (4, 4),
    10,
    4,
    (
        JobType(
            replicas=(2, 1, 2),
            stage_time_s=decimals(0.1, 0.1, 0.1),
            activation_gbytes=decimals(0.1, 0.4),
            gradient_gbytes=decimals(0.21, 0, 0.19),
        ),
    ),
    (Job(job_type=0, num_iterations=1),),
)

#: J1 (r, g, n) = (0, 4, 4), J2 (1, 1, 2), J3 (1, 2, 2); no communication.
H3 = cluster(
    (2, 2),
    10,
    2,
    (one_stage(4), one_stage(1), one_stage(2)),
    (
        Job(job_type=0, num_iterations=4),
        Job(job_type=1, release_tick=1, num_iterations=2),
        Job(job_type=2, release_tick=1, num_iterations=2),
    ),
)

#: Three jobs of one GPU at 0, and J4 at 6: 0.19 s on one server, 1 s on two.
H4 = cluster(
    (2, 2),
    10,
    2,
    (one_stage(1), one_stage(2, 0.1, 0.9)),
    (
        Job(job_type=0, num_iterations=6),
        Job(job_type=0, num_iterations=8),
        Job(job_type=0, num_iterations=10),
        Job(job_type=1, release_tick=6, num_iterations=10),
    ),
)


def small(rng, jobs=None, load=None):
    """Draw an instance of a few pipelines on servers of two or four GPUs."""
    return random_instance(
        rng,
        jobs=jobs or int(rng.integers(5, 20)),
        servers=int(rng.integers(2, 5)),
        gpus_per_server=int(rng.choice([2, 4])),
        load=load or float(rng.choice([0.5, 1.2, 3.0])),
        largest_job_gpus=4,
        fewest_iterations=20,
        most_iterations=400,
        tick_s=10.0,
    )
