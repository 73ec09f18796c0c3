"""Small instances for the tests of bounds, and their optima by enumeration."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np

from gadgetopt.models.a_srpt.instance import ASrptInstance, Job, JobType


def instance_of(gpus_per_server, jobs, gradient=0, intra=10, nic=2):
    """Return jobs (release, gpus, iterations, weight) of one stage with one second an iteration.

    Parts of a job that is on several servers exchange `gradient` gigabytes.
    """
    sizes = sorted({g for _, g, _, _ in jobs})
    types = tuple(
        JobType(
            replicas=(g,),
            stage_time_s=(Fraction(1),),
            gradient_gbytes=(Fraction(gradient),),
        )
        for g in sizes
    )
    return ASrptInstance(
        gpus_per_server=tuple(gpus_per_server),
        intra_bandwidth_gbytes_per_s=Fraction(intra),
        nic_bandwidth_gbytes_per_s=Fraction(nic),
        job_types=types,
        jobs=tuple(
            Job(job_type=sizes.index(g), release_tick=r, num_iterations=n, weight=Fraction(w))
            for r, g, n, w in jobs
        ),
    )


#: H3: one job of all four GPUs, then two small ones.
H3 = instance_of((2, 2), [(0, 4, 4, 1), (1, 1, 2, 1), (1, 2, 2, 1)])


def random_jobs(rng, count, largest, weights=(1, 1, 2, 3)):
    """Draw jobs for `instance_of`."""
    return [
        (
            int(rng.integers(0, 6)),
            int(rng.integers(1, largest + 1)),
            int(rng.integers(1, 6)),
            weights[int(rng.integers(len(weights)))],
        )
        for _ in range(count)
    ]


def fragmented(seed):
    """Draw four jobs for one to three servers; with seeds of 1 modulo 3 they fit the pool better.

    Two servers of three GPUs then hold two jobs of two GPUs, the pool of six GPUs three of them; a
    job in two parts is slow.
    """
    rng = np.random.default_rng(seed)
    servers = ((2, 2), (3, 3), (4,))[seed % 3]
    jobs = random_jobs(rng, 4, 3, (1, Fraction(1, 2), Fraction(2, 3)))
    if servers == (3, 3):
        jobs = [(0, 2, n, w) for _, _, n, w in jobs]
    return instance_of(servers, jobs, gradient=4)


def pool_optimum(instance):
    """Return OPT_P by all list schedules, which include an optimal one."""
    d = instance.min_ticks.tolist()
    g = instance.gpus.tolist()
    r = instance.release_ticks.tolist()
    best = None
    for order in permutations(range(len(d))):
        used = [0] * (max(r) + sum(d) + 1)
        total = Fraction(0)
        for j in order:
            s = r[j]
            while any(used[t] + g[j] > instance.total_gpus for t in range(s, s + d[j])):
                s += 1
            for t in range(s, s + d[j]):
                used[t] += g[j]
            total += instance.jobs[j].weight * (s + d[j])
        best = total if best is None else min(best, total)
    return best


def cluster_optimum(instance):
    """Return OPT_F of jobs of one stage: all list schedules under all divisions over servers."""
    r = instance.release_ticks.tolist()
    c = instance.gpus_per_server
    choices = []
    for j, job in enumerate(instance.jobs):
        g, times = int(instance.gpus[j]), instance.times[job.job_type]
        options = []
        for parts in product(*(range(min(g, x) + 1) for x in c)):
            if sum(parts) == g:
                placement = [[(m, x) for m, x in enumerate(parts) if x]]
                options.append((parts, instance.ticks(j, times.units(placement))))
        choices.append(options)
    best = None
    for divided in product(*choices):
        horizon = max(r) + sum(d for _, d in divided) + 1
        for order in permutations(range(len(r))):
            used = [[0] * len(c) for _ in range(horizon)]
            total = Fraction(0)
            for j in order:
                parts, d = divided[j]
                s = r[j]
                while any(
                    used[t][m] + parts[m] > c[m] for t in range(s, s + d) for m in range(len(c))
                ):
                    s += 1
                for t in range(s, s + d):
                    used[t] = [u + x for u, x in zip(used[t], parts, strict=True)]
                total += instance.jobs[j].weight * (s + d)
                if best is not None and total >= best:
                    break
            else:
                best = total
    return best


def pool_cost(relaxed, starts):
    """Return the cost of a schedule, after a check that it is one."""
    ends = starts + relaxed.duration
    assert (starts >= relaxed.release).all()
    for tick in range(int(ends.max())):
        assert relaxed.gpus[(starts <= tick) & (tick < ends)].sum() <= relaxed.total_gpus
    return int(relaxed.weight @ ends)
