"""An offline schedule in the order of prices, with the price bound as its certificate (ours).

1. Good prices of GPU-time (B5) give every job a cheapest start.
2. In the order of these starts, each job is placed in the pool as early as it fits: a plan.
3. The cluster follows the plan. A job that it would scatter waits for a better place, for at most a
   multiple of the time that scattering costs; nothing else overtakes.

4. The best of several plans is annealed in the pool, and its order then on the servers
   (`subproblems.order_annealing`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.compiled import slow_note
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...heuristics.order_annealing import (
    ServerLists,
    pool_lists,
)
from ...instance import (
    ASrptInstance,
    ASrptSolution,
)
from ...relaxations import (
    Pool,
    pool_of,
)
from ...subproblems.cluster import Cluster
from ...subproblems.mapper import Mapper
from ...subproblems.names import MappingRule
from ..certificate.check import (
    ASrptCertificate,
    Prices,
)
from .ascent import FloatPool
from .list_schedule import listed
from .outcome import step_proof
from .price import good_prices

#: Orders: by the cheapest start and this part of the duration. Waits: multiples of what they save.
#: Tuned: `benchmarks/constants.py`.
ORDERS, WAITS = (0.0, 0.25, 1.0), (1.0, 3.0, 0.0)
#: Most steps of annealing, times jobs, times servers with this many more.
#: Tuned: `benchmarks/constants.py`.
MOST_WORK, MORE_SERVERS = 10**10, 32
#: First temperatures in the pool and on the servers, as parts of the mean wait.
#: Tuned: `benchmarks/constants.py`.
HOT_POOL, HOT_SERVERS = 0.3, 0.03


@method(kind="heuristic", reference="ours", formulation="prices")
def price_guided(
    instance: ASrptInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    intervals: int = 512,
    mapping: MappingRule = "best_of",
    steps: int = 80_000,
) -> MethodOutcome:
    """Offline: in the order of the prices of B5, which it also proves.

    Parameters
    ----------
    instance : ASrptInstance
    limits : Limits
        `time_s` ends the search for better prices and schedules; a first schedule is always made.
    rng : numpy.random.Generator
    intervals : int, default 512
        Most intervals of the prices.
    mapping : str
        Rule of `subproblems.mapper.MAPPINGS`.
    steps : int, default 80,000
        Steps of annealing in the pool, and again on the servers; fewer where there are few or
        very many jobs.
    """
    search: Search[ASrptSolution] = Search("min", limits)
    clock, pool = search.clock, pool_of(instance)
    times, prices, _ = good_prices(pool, intervals, 40, 5000, 2000, Clock(clock.limits(0.5)))
    _, _, cheapest = FloatPool.of(pool).evaluate(times, prices[None])
    mapper = Mapper(instance, mapping)
    plans = []
    with clock.phase("schedules"):
        for part in ORDERS:
            plan = listed(pool, cheapest + part * pool.duration)
            plans.append(plan)
            for wait in WAITS:
                if search.best is not None and clock.expired:
                    break
                found, cluster = followed(instance, plan, Fraction(wait), mapper)
                if found < search.value:
                    search.offer(found, cluster.solution())
    if not clock.expired:
        with clock.phase("annealing"):
            found, annealed = _annealed(instance, pool, plans, mapper, steps, rng, clock)
        search.offer(found, annealed)
    proof = step_proof(Prices, pool, times, prices)
    search.certificate = ASrptCertificate(proof=proof, attainable=True)
    return search.outcome(search.best, **slow_note())


def _annealed(
    instance: ASrptInstance,
    pool: Pool,
    plans: Sequence[Floats],
    mapper: Mapper,
    steps: int,
    rng: np.random.Generator,
    clock: Clock,
) -> tuple[Fraction, ASrptSolution]:
    """Return the objective, in ticks, and the best schedule that annealing finds.

    The best of some plans is annealed in the pool. Its list, or that of the starts of a cluster
    that follows it, is annealed on the servers.
    """
    n = len(instance.jobs)
    of_pool, of_servers = pool_lists(pool), ServerLists(instance, mapper)
    order = min((np.argsort(plan, kind="stable") for plan in plans), key=of_pool.value)
    most = min(steps, MOST_WORK // (n * (1 + MORE_SERVERS)))
    _, order = of_pool.anneal(order, most, HOT_POOL, rng, clock)
    plan = np.array(of_pool.decoded(order)[1], dtype=np.float64)
    clusters = [followed(instance, plan, Fraction(wait), mapper) for wait in WAITS[:2]]
    orders = [order]
    for _, cluster in clusters:
        by_start = sorted(cluster.solution().jobs, key=lambda job: job.start_microtick)
        orders.append(np.array([job.job for job in by_start], dtype=np.int64))
    order = min(orders, key=of_servers.value)
    most = min(steps, MOST_WORK // (n * (instance.num_servers + MORE_SERVERS)))
    whole, order = of_servers.anneal(order, most, HOT_SERVERS, rng, clock)
    value, cluster = min(clusters, key=lambda found: found[0])
    if value < Fraction(whole, instance.weight_scale):
        return value, cluster.solution()
    return Fraction(whole, instance.weight_scale), of_servers.solution(order)


def followed(
    instance: ASrptInstance, plan: Floats, wait: Fraction, mapper: Mapper
) -> tuple[Fraction, Cluster]:
    """Return the objective, in ticks, of a cluster that follows a plan, and the cluster.

    Parameters
    ----------
    instance : ASrptInstance
    plan : array, shape (jobs,)
        Starts in the pool, ticks; no job starts earlier.
    wait : Fraction
        How long a job waits for a better place, as a multiple of the ticks that it loses.
    mapper : Mapper
    """
    G, cluster = instance.total_gpus, Cluster(instance, mapper, Fraction(1))
    planned = [int(t) * G for t in plan.tolist()]
    coming = deque(sorted(range(len(planned)), key=lambda j: (planned[j], j)))
    waiting: list[int] = []
    total = Fraction(0)
    while coming or waiting:
        # A job that waits has others running: on the empty cluster it loses nothing.
        events = (planned[coming[0]] if coming else None, cluster.next_completion)
        now = min(t for t in events if t is not None)
        while cluster.next_completion == now:
            cluster.complete()
        while coming and planned[coming[0]] <= now:
            waiting.append(coming.popleft())
        still = []
        for at, job in enumerate(waiting):
            if not cluster.fits(job):
                still += waiting[at:]
                break
            offer = cluster.offer(job)
            best = mapper.on_empty_cluster(instance.jobs[job].job_type)
            lost = instance.ticks(job, offer.units) - instance.ticks(job, best)
            if lost > 0 and now - planned[job] < wait * lost * G:
                still.append(job)
                continue
            total += instance.jobs[job].weight * cluster.start(job, now, offer)
        waiting = still
    return total / G, cluster
