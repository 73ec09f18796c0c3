"""The policies written a second time, plainly: lists, scans, rationals."""

from fractions import Fraction
from math import ceil, floor

from gadgetopt.models.a_srpt.evaluate import iteration_time
from gadgetopt.models.a_srpt.instance import ASrptSolution, ScheduledJob


def select(free, gpus, consolidate):
    """Section 5.3: servers for a job, in visiting order."""
    free = dict(enumerate(free))
    if not consolidate:
        chosen, need = [], gpus
        for m in sorted((m for m in free if free[m]), key=lambda m: (free[m], m)):
            if need <= 0:
                break
            chosen.append(m)
            need -= free[m]
        return chosen
    chosen, need = [], gpus
    while True:
        enough = [m for m in free if free[m] >= need]
        if enough:
            return [*chosen, min(enough, key=lambda m: (free[m], m))]
        m = max(free, key=lambda m: (free[m], -m))
        chosen.append(m)
        need -= free.pop(m)


def heavy_edge(job_type, capacities):
    """Section 5.3, vertex form, in rationals."""
    k = job_type.replicas
    stages = len(k)

    def w(a, b):
        if not 0 <= min(a, b) <= max(a, b) < stages:
            return 0
        if a == b:
            return 4 * job_type.gradient_gbytes[a] / k[a] if k[a] >= 2 else 0
        return 2 * job_type.activation_gbytes[min(a, b)] / (k[a] * k[b])

    left = list(k)
    x = [[0] * len(capacities) for _ in k]
    for m, capacity in enumerate(capacities):
        room = min(capacity, sum(left))
        while room > 0:
            connected = [
                (sum(x[v][m] * w(u, v) for v in (u - 1, u, u + 1) if 0 <= v < stages), -u)
                for u in range(stages)
                if left[u]
            ]
            edges = [
                (w(a, b), -a, -b)
                for a in range(stages)
                for b in (a, a + 1)
                if b < stages and w(a, b) > 0 and left[a] >= 1 + (a == b) and left[b] >= 1
            ]
            if max(connected)[0] > 0:
                put = [-max(connected)[1]]
            elif room >= 2 and edges:
                put = [-max(edges)[1], -max(edges)[2]]
            else:
                put = [
                    min(
                        (
                            sum(
                                w(u, v) * (k[v] - (u == v))
                                for v in (u - 1, u, u + 1)
                                if 0 <= v < stages
                            ),
                            u,
                        )
                        for u in range(stages)
                        if left[u]
                    )[1]
                ]
            for u in put:
                x[u][m] += 1
                left[u] -= 1
            room -= len(put)
    return x


class Plain:
    """What all policies need to know of an instance."""

    def __init__(self, instance, kappa=Fraction(3, 2)):
        self.instance = instance
        self.kappa = kappa
        self.step = instance.total_gpus
        self.free = list(instance.gpus_per_server)
        self.running = []
        self.scheduled = []

    def gpus(self, j):
        return sum(self.type(j).replicas)

    def type(self, j):
        return self.instance.job_types[self.instance.jobs[j].job_type]

    def placed(self, j, free, consolidate):
        servers = select(free, self.gpus(j), consolidate)
        x = heavy_edge(self.type(j), [free[m] for m in servers])
        stages = tuple({m: n for m, n in zip(servers, row, strict=True) if n} for row in x)
        return stages, iteration_time(self.instance, self.type(j), stages)

    def heuristic(self, j):
        return self.placed(j, self.instance.gpus_per_server, True)[1]

    def scattered(self, j):
        spare = iter(range(10**6))
        stages = tuple({next(spare): 1 for _ in range(k)} for k in self.type(j).replicas)
        return iteration_time(self.instance, self.type(j), stages)

    def heavy(self, j):
        return self.scattered(j) > self.kappa * self.heuristic(j)

    def ticks(self, j, seconds):
        n = self.instance.jobs[j].num_iterations
        return max(1, ceil(n * seconds / self.instance.tick_s))

    def offer(self, j):
        return self.placed(j, self.free, self.heavy(j))

    def start(self, j, now, stages, seconds):
        self.running.append((now + self.step * self.ticks(j, seconds), j, stages))
        for servers in stages:
            for m, n in servers.items():
                self.free[m] -= n
        placement = tuple(tuple(servers.items()) for servers in stages)
        self.scheduled.append(ScheduledJob(job=j, start_microtick=now, placement=placement))

    def complete(self, now):
        for end, _, stages in self.running:
            if end == now:
                for servers in stages:
                    for m, n in servers.items():
                        self.free[m] += n
        self.running = [entry for entry in self.running if entry[0] != now]

    def solution(self):
        return ASrptSolution(jobs=tuple(sorted(self.scheduled, key=lambda s: s.job)))


def plain_virtual(release, work):
    """Completions under preemptive SRPT, microtick by event, from the definition."""
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


def plain_a_srpt(instance, tau=1, kappa=Fraction(3, 2), slack=0):
    """Section 5.4 with perfect predictions."""
    p = Plain(instance, kappa)
    jobs = range(len(instance.jobs))
    release = [instance.jobs[j].release_tick * p.step for j in jobs]
    work = [p.gpus(j) * p.ticks(j, p.heuristic(j)) for j in jobs]
    virtual = plain_virtual(release, work)
    delay = [
        floor(
            tau
            * instance.jobs[j].num_iterations
            * (p.scattered(j) - p.heuristic(j))
            / instance.tick_s
            * p.step
        )
        if p.heavy(j)
        else 0
        for j in jobs
    ]
    waiting = sorted(jobs, key=lambda j: (virtual[j], j))
    expiries = {virtual[j] + delay[j] for j in jobs}
    now = -1
    while waiting:
        moments = {*virtual, *expiries, *(end for end, _, _ in p.running)}
        now = min(t for t in moments if t > now)
        p.complete(now)
        for j in [j for j in waiting if virtual[j] <= now]:
            if p.gpus(j) > sum(p.free):
                break
            stages, seconds = p.offer(j)
            if (
                p.heavy(j)
                and seconds > (1 + slack) * p.heuristic(j)
                and now < virtual[j] + delay[j]
            ):
                continue
            p.start(j, now, stages, seconds)
            waiting.remove(j)
    return p.solution()


def plain_policy(instance, key, blocking):
    """Section 5.6: `key(plain, j)` orders the queue."""
    p = Plain(instance)
    jobs = range(len(instance.jobs))
    release = [instance.jobs[j].release_tick * p.step for j in jobs]
    waiting = sorted(jobs, key=lambda j: (key(p, j), release[j], j))
    now = -1
    while waiting:
        moments = {*release, *(end for end, _, _ in p.running)}
        now = min(t for t in moments if t > now)
        p.complete(now)
        for j in [j for j in waiting if release[j] <= now]:
            if p.gpus(j) > sum(p.free):
                if blocking:
                    break
                continue
            p.start(j, now, *p.offer(j))
            waiting.remove(j)
    return p.solution()
