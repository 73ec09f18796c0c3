"""Optima by enumeration, from the evaluator's per-iteration time alone."""

from fractions import Fraction

from gadgetopt.models.a_srpt.evaluate import cut_gbytes, duration_ticks, iteration_time
from gadgetopt.models.a_srpt.instance import ASrptInstance, Job, JobType


def splits(total, capacities):
    """Yield all ways to put `total` on servers."""
    if not capacities:
        if total == 0:
            yield ()
        return
    for x in range(min(total, capacities[0]) + 1):
        for rest in splits(total - x, capacities[1:]):
            yield (x, *rest)


def mappings(replicas, capacities, sizes=None):
    """Yield all tables stage x server of replicas, each of as many GPUs as `sizes` say."""
    if not replicas:
        yield ()
        return
    size, *others = sizes or (1,) * len(replicas)
    for row in splits(replicas[0], tuple(f // size for f in capacities)):
        left = tuple(f - size * x for f, x in zip(capacities, row, strict=True))
        for rest in mappings(replicas[1:], left, others):
            yield (row, *rest)


def stages(table):
    return tuple({m: x for m, x in enumerate(row) if x} for row in table)


def best_mapping(instance, job_type, capacities):
    """Return the shortest iteration, s, and the least cut, GB, of all mappings.

    Capacities are in units of the job's blocks.
    """
    sizes = [t // job_type.block_unit for t in job_type.block_of_stage]
    tables = [stages(t) for t in mappings(job_type.replicas, tuple(capacities), sizes)]
    return (
        min(iteration_time(instance, job_type, t) for t in tables),
        min(cut_gbytes(job_type, t) for t in tables),
    )


def fastest_by_row(instance, job_type):
    """Return the shortest iteration, s, of every number of GPUs on every server."""
    fastest, sizes = {}, job_type.block_of_stage
    for table in mappings(job_type.replicas, instance.gpus_per_server, sizes):
        row = tuple(
            sum(t * x for t, x in zip(sizes, column, strict=True))
            for column in zip(*table, strict=True)
        )
        seconds = iteration_time(instance, job_type, stages(table))
        fastest[row] = min(seconds, fastest.get(row, seconds))
    return fastest


def optimum(instance):
    """Return the least weighted sum of completions: every order, every configuration.

    Some optimal schedule starts every job, in the order of starts, as early as the earlier ones
    allow.
    """
    of_type = [fastest_by_row(instance, t) for t in instance.job_types]
    ways = [
        [
            (row, duration_ticks(instance, job.num_iterations * a))
            for row, a in of_type[job.job_type].items()
        ]
        for job in instance.jobs
    ]
    soonest = [
        job.release_tick + min(d for _, d in w) for job, w in zip(instance.jobs, ways, strict=True)
    ]
    weight = [job.weight for job in instance.jobs]
    best = [None]

    def fits(placed, row, start, end):
        moments = {start, *(s for s, e, _ in placed if start <= s < end)}
        return all(
            sum(r[m] for s, e, r in placed if s <= t < e) + row[m] <= c
            for t in moments
            for m, c in enumerate(instance.gpus_per_server)
        )

    def extend(placed, waiting, value):
        if not waiting:
            best[0] = value if best[0] is None else min(best[0], value)
            return
        if best[0] is not None and value + sum(weight[j] * soonest[j] for j in waiting) >= best[0]:
            return
        for j in waiting:
            r = instance.jobs[j].release_tick
            for row, d in ways[j]:
                starts = sorted({r, *(e for _, e, _ in placed if e > r)})
                start = next(s for s in starts if fits(placed, row, s, s + d))
                extend(
                    [*placed, (start, start + d, row)],
                    [i for i in waiting if i != j],
                    value + weight[j] * (start + d),
                )

    extend([], list(range(len(instance.jobs))), Fraction(0))
    return best[0]


def tiny(rng):
    """Draw three or four jobs, of one or two stages, for two or three servers of two GPUs."""
    servers = int(rng.integers(1, 4))
    gpus = tuple(int(c) for c in rng.choice([1, 2, 2, 3], size=servers))
    types = []
    while len(types) < 3:
        replicas = tuple(int(k) for k in rng.integers(1, 3, size=int(rng.integers(1, 3))))
        if sum(replicas) <= sum(gpus):
            types.append(
                JobType(
                    replicas=replicas,
                    stage_time_s=tuple(
                        Fraction(int(p), 10) for p in rng.integers(1, 5, len(replicas))
                    ),
                    activation_gbytes=tuple(
                        Fraction(int(a), 10) for a in rng.integers(0, 4, len(replicas) - 1)
                    ),
                    gradient_gbytes=tuple(
                        Fraction(int(h), 10) for h in rng.integers(0, 6, len(replicas))
                    ),
                )
            )
        elif sum(gpus) < 2:
            gpus = (*gpus, 2)
    jobs = tuple(
        Job(
            job_type=int(rng.integers(3)),
            release_tick=int(rng.integers(0, 5)),
            num_iterations=int(rng.integers(1, 8)),
            weight=Fraction(int(rng.choice([1, 1, 1, 2])), int(rng.choice([1, 1, 2]))),
        )
        for _ in range(int(rng.integers(2, 5)))
    )
    return ASrptInstance(
        gpus_per_server=gpus,
        intra_bandwidth_gbytes_per_s=Fraction(10),
        nic_bandwidth_gbytes_per_s=Fraction(max(gpus)),
        jobs=jobs,
        job_types=tuple(types),
    )


def tiny_with_blocks(rng, mixed=False):
    """Draw two to four jobs of one or two stages, most of them in blocks, for two or three servers.

    If `mixed`, each stage has its own size, and there are up to three. Servers have an odd number
    of GPUs, too, so that some stay idle beside blocks of two.
    """
    gpus = tuple(int(c) for c in rng.choice([2, 3, 3, 4, 5], size=int(rng.integers(2, 4))))
    types = []
    while len(types) < 3:
        block = int(rng.choice([1, 2, 2, 3]))
        replicas = tuple(
            int(k) for k in rng.integers(1, 3, size=int(rng.integers(1, 4 if mixed else 3)))
        )
        n = len(replicas)
        sizes = tuple(int(t) for t in rng.choice([1, 2, 2, 3], n)) if mixed else (block,) * n
        single = [t for t, k in zip(sizes, replicas, strict=True) for _ in range(k)]
        if not packs(tuple(sorted(single, reverse=True)), gpus):
            continue
        ranges = ((1, 5), (0, 6), (0, 4), (0, 9))
        times, h, a, v = (rng.integers(low, high, n) for low, high in ranges)
        types.append(
            JobType(
                replicas=replicas,
                stage_time_s=tuple(Fraction(int(p), 10) for p in times),
                activation_gbytes=tuple(Fraction(int(x), 10) for x in a[1:]),
                gradient_gbytes=tuple(Fraction(int(x), 10) for x in h),
                tp_block=1 if mixed else block,
                tp_blocks=sizes if mixed else (),
                tp_gbytes=tuple(
                    Fraction(int(x), 7) if t > 1 else Fraction(0)
                    for x, t in zip(v, sizes, strict=True)
                )
                if max(sizes) > 1
                else (),
            )
        )
    jobs = tuple(
        Job(
            job_type=int(rng.integers(3)),
            release_tick=int(rng.integers(0, 4)),
            num_iterations=int(rng.integers(1, 8)),
            weight=Fraction(int(rng.choice([1, 1, 2]))),
        )
        for _ in range(int(rng.integers(2, 5)))
    )
    return ASrptInstance(
        gpus_per_server=gpus,
        intra_bandwidth_gbytes_per_s=Fraction(10),
        nic_bandwidth_gbytes_per_s=Fraction(max(gpus)),
        jobs=jobs,
        job_types=tuple(types),
    )


def cluster_of(gpus_per_server, job_type):
    """Return an instance with one job of this type, 100 Gb/s between servers."""
    return ASrptInstance(
        gpus_per_server=gpus_per_server,
        intra_bandwidth_gbytes_per_s=Fraction(75, 2),
        nic_bandwidth_gbytes_per_s=Fraction(25, 2),
        job_types=(job_type,),
        jobs=(Job(job_type=0, num_iterations=1),),
    )


def packs(blocks, free):
    """Return True if blocks, given one by one, fit into free GPUs: every server for every block."""
    if not blocks:
        return True
    return any(
        packs(blocks[1:], (*free[:m], f - blocks[0], *free[m + 1 :]))
        for m, f in enumerate(free)
        if f >= blocks[0]
    )
