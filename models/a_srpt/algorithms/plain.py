r"""A-SRPT of the paper, step by step: the real cluster follows a virtual machine.

Nothing here is fast: lists are scanned, and every number is a rational. Of the algorithm the paper
says what it does in words; the rules of dispatch, of delays and of ties are (reconstructed), and so
is the vertex form of heavy-edge mapping.

Letters, as in the paper: job j has g_j GPUs, n_j iterations (predicted n~_j) and weight 1; alpha is
the time of an iteration under a mapping: alpha~_j under the heuristic's on the empty cluster,
alpha_max_j with every replica on a server of its own. A replica is a block of t GPUs of one server,
t = 1 without tensor parallelism; servers then count by the blocks that fit. Where stages have
blocks of different sizes, t is their greatest common divisor, servers are enough in which all
blocks fit, and a block is put where the others still fit. G is the number of GPUs. A tick has G
microticks, so that the virtual machine's times are whole numbers (reconstructed).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor

from gadgetopt.pieces.knapsack.bins import Blocks, blocks_of, fit

from ..evaluate import iteration_time
from ..instance import ASrptInstance, ASrptSolution, JobType, ScheduledJob

#: Of each stage, replicas by server.
Mapping = tuple[dict[int, int], ...]


def a_srpt(
    instance: ASrptInstance,
    predicted: Sequence[int] | None = None,
    delay_factor: Fraction = Fraction(1),
    comm_threshold: Fraction = Fraction(3, 2),
    consolidation_slack: Fraction = Fraction(0),
) -> ASrptSolution:
    """Return the schedule of A-SRPT; predictions n~ are perfect unless given."""
    cluster = Cluster(instance, comm_threshold)
    jobs = range(len(instance.jobs))
    n_tilde = [job.num_iterations for job in instance.jobs] if predicted is None else predicted

    # A job enters the virtual machine at its release, with g_j d~_j microticks of work.
    release = [job.release_tick * cluster.G for job in instance.jobs]
    work = [cluster.g(j) * ticks(instance, n_tilde[j], cluster.heuristic_alpha(j)) for j in jobs]
    virtual = virtual_completions(release, work)

    # D_j: what perfect consolidation could save a heavy job, times the delay factor.
    D = [
        floor(
            delay_factor
            * n_tilde[j]
            * (cluster.longest_alpha(j) - cluster.heuristic_alpha(j))
            / instance.tick_s
            * cluster.G
        )
        if cluster.heavy(j)
        else 0
        for j in jobs
    ]

    # Events are real and virtual completions, arrivals and ends of delays; after those of one time
    # comes the dispatch. A job that completes virtually joins the queue Q, ordered by that time.
    Q = sorted(jobs, key=lambda j: (virtual[j], j))
    t = -1
    while Q:
        ends = [virtual[j] + D[j] for j in jobs]
        t = min(event for event in [*cluster.completions(), *virtual, *ends] if event > t)
        cluster.complete(t)
        # dispatch(t):
        for j in [j for j in Q if virtual[j] <= t]:
            if not cluster.fits(j):
                break  # strict head-of-line blocking, no backfilling
            x = cluster.mapping(j, cluster.free, consolidate=cluster.heavy(j))
            a = cluster.alpha(j, x)
            too_slow = a > (1 + consolidation_slack) * cluster.heuristic_alpha(j)
            if cluster.heavy(j) and too_slow and t < virtual[j] + D[j]:
                continue  # stays in Q, for a better place; the next job may overtake it
            cluster.start(j, t, x)
            Q.remove(j)
    return cluster.solution()


def virtual_completions(release: Sequence[int], work: Sequence[int]) -> list[int]:
    """Section 5.2: when each job completes on one machine under preemptive SRPT, in microticks.

    The machine always processes the released job of least remaining work; ties by release and
    index (reconstructed).
    """
    left = dict(enumerate(work))
    done = {}
    now = 0
    while left:
        there = [j for j in left if release[j] <= now]
        later = [release[j] for j in left if release[j] > now]
        if not there:
            now = min(later)
            continue
        j = min(there, key=lambda j: (left[j], release[j], j))
        until = min([now + left[j], *later])
        left[j] -= until - now
        now = until
        if not left[j]:
            del left[j]
            done[j] = now
    return [done[j] for j in range(len(work))]


def ticks(instance: ASrptInstance, n: int, alpha: Fraction) -> int:
    """Return how many ticks n iterations of alpha seconds take, at least one."""
    return max(1, ceil(n * alpha / instance.tick_s))


def select_servers(free: Sequence[int], blocks: Blocks, consolidate: bool) -> list[int]:
    """Section 5.3: return the servers for a job's blocks, in visiting order."""
    f = dict(enumerate(free))
    chosen: list[int] = []
    if not consolidate:
        # fragment: the least free first, which uses up crumbs
        for m in sorted((m for m in f if f[m]), key=lambda m: (f[m], m)):
            if fit(blocks, [free[c] for c in chosen]):
                break
            chosen.append(m)
        return chosen
    while True:
        # consolidate: the least free of those that make it enough, else the freest, and so on
        enough = [m for m in f if fit(blocks, [free[c] for c in (*chosen, m)])]
        if enough:
            return [*chosen, min(enough, key=lambda m: (f[m], m))]
        m = max(f, key=lambda m: (f[m], -m))
        chosen.append(m)
        del f[m]


def heavy_edge(job_type: JobType, capacities: Sequence[int]) -> list[list[int]]:
    """Section 5.3, vertex form: return replicas x[stage][server], servers in visiting order."""
    k = job_type.replicas
    stages = range(len(k))

    def W(a: int, b: int) -> Fraction:
        """Weight of the edge between a replica of stage a and one of stage b."""
        if not 0 <= min(a, b) <= max(a, b) < len(k):
            return Fraction(0)
        if a == b:
            return 4 * job_type.gradient_gbytes[a] / k[a] if k[a] >= 2 else Fraction(0)
        return 2 * job_type.activation_gbytes[min(a, b)] / (k[a] * k[b])

    def conn(u: int, m: int) -> Fraction:
        """Weight between a replica of stage u and what is on server m."""
        return sum((x[v][m] * W(u, v) for v in (u - 1, u, u + 1) if v in stages), Fraction(0))

    def incident(u: int) -> Fraction:
        """Weight between a replica of stage u and all others."""
        return sum(
            (W(u, v) * (k[v] - (u == v)) for v in (u - 1, u, u + 1) if v in stages), Fraction(0)
        )

    size = [t // job_type.block_unit for t in job_type.block_of_stage]
    rem = list(k)

    def may(m: int, put: Sequence[int]) -> bool:
        """Return True if replicas of these stages fit on server m, and all others then still do."""
        rest = [n - put.count(u) for u, n in enumerate(rem)]
        space = left - sum(size[u] for u in put)
        if min(*rest, space) < 0:
            return False
        return fit(blocks_of(size, rest), [space, *capacities[m + 1 :]])

    x = [[0] * len(capacities) for _ in stages]
    for m, capacity in enumerate(capacities):
        left = capacity
        while waiting := [u for u in stages if rem[u] and may(m, [u])]:
            edges: list[tuple[int, int]] = [
                (a, b)
                for a in stages
                for b in (a, a + 1)
                if b in stages and W(a, b) > 0 and may(m, [a, b])
            ]
            nearest = max(waiting, key=lambda u: (conn(u, m), -u))
            if conn(nearest, m) > 0:
                put = [nearest]
            elif edges:
                heaviest = max(edges, key=lambda e: (W(e[0], e[1]), -e[0], -e[1]))
                put = [*heaviest]
            else:
                put = [min(waiting, key=lambda u: (incident(u), u))]
            for u in put:
                x[u][m] += 1
                rem[u] -= 1
                left -= size[u]
    return x


class Cluster:
    """The servers, the jobs that run on them, and what a job would take there."""

    def __init__(self, instance: ASrptInstance, comm_threshold: Fraction = Fraction(3, 2)):
        self.instance: ASrptInstance = instance
        self.comm_threshold: Fraction = comm_threshold
        self.G: int = instance.total_gpus
        self.free: list[int] = list(instance.gpus_per_server)
        self.running: list[tuple[int, int, Mapping]] = []
        self.scheduled: list[ScheduledJob] = []

    def g(self, j: int) -> int:
        """Return the GPUs of a job."""
        return self._type(j).num_gpus

    def t(self, j: int) -> int:
        """Return the GPUs by which a job counts: those of a replica, if all have the same."""
        return self._type(j).block_unit

    def fits(self, j: int) -> bool:
        """Return True if the blocks of a job fit into the free GPUs."""
        return fit(self._type(j).blocks, self.free)

    def _type(self, j: int) -> JobType:
        return self.instance.job_types[self.instance.jobs[j].job_type]

    def _held(self, j: int, x: Mapping) -> list[tuple[int, int]]:
        """Return pairs of a server and the GPUs that replicas of one stage hold there."""
        sizes = self._type(j).block_of_stage
        return [(m, t * n) for t, stage in zip(sizes, x, strict=True) for m, n in stage.items()]

    def mapping(self, j: int, free: Sequence[int], consolidate: bool) -> Mapping:
        """Return the heavy-edge mapping of a job onto free GPUs."""
        f = [f // self.t(j) for f in free]
        blocks = tuple((t // self.t(j), r) for t, r in self._type(j).blocks)
        servers = select_servers(f, blocks, consolidate)
        x = heavy_edge(self._type(j), [f[m] for m in servers])
        return tuple({m: n for m, n in zip(servers, row, strict=True) if n} for row in x)

    def alpha(self, j: int, x: Mapping) -> Fraction:
        """Return the seconds of an iteration under a mapping."""
        return iteration_time(self.instance, self._type(j), x)

    def heuristic_alpha(self, j: int) -> Fraction:
        """Return alpha~: the heuristic's mapping onto the empty cluster."""
        return self.alpha(j, self.mapping(j, self.instance.gpus_per_server, consolidate=True))

    def longest_alpha(self, j: int) -> Fraction:
        """Return alpha_max: every replica on a server of its own."""
        server = iter(range(sum(self._type(j).replicas)))
        scattered = tuple({next(server): 1 for _ in range(k)} for k in self._type(j).replicas)
        return self.alpha(j, scattered)

    def heavy(self, j: int) -> bool:
        """Return True if scattering a job costs more than the threshold."""
        return self.longest_alpha(j) > self.comm_threshold * self.heuristic_alpha(j)

    def start(self, j: int, t: int, x: Mapping) -> None:
        """Start a job; how long it takes is a matter of its true iterations."""
        n = self.instance.jobs[j].num_iterations
        d = ticks(self.instance, n, self.alpha(j, x))
        self.running.append((t + self.G * d, j, x))
        for m, gpus in self._held(j, x):
            self.free[m] -= gpus
        placement = tuple(tuple(stage.items()) for stage in x)
        self.scheduled.append(ScheduledJob(job=j, start_microtick=t, placement=placement))

    def completions(self) -> list[int]:
        """Return when the running jobs complete."""
        return [end for end, _, _ in self.running]

    def complete(self, t: int) -> None:
        """Free the GPUs of the jobs that complete at a time."""
        for end, j, x in self.running:
            if end == t:
                for m, gpus in self._held(j, x):
                    self.free[m] += gpus
        self.running = [entry for entry in self.running if entry[0] != t]

    def solution(self) -> ASrptSolution:
        """Return what has been started as a decision."""
        return ASrptSolution(jobs=tuple(sorted(self.scheduled, key=lambda s: s.job)))
