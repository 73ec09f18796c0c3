r"""Decisions from prices: jobs placed one by one, and again, in what is left (reconstructed).

At the prices of the linear relaxation of (10) a job's best schedule avoids the slots and resources
that others need more. Jobs are placed in turn, each with its best schedule for the room that is
left; then, ruin and recreate, some of them are taken out and placed anew, in another order and at
prices scaled up or down: a job that pays less attention to prices completes earlier and takes more
from those after it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gadgetopt.result import Limits, MethodOutcome, TracePoint

from .bounds import first_prices
from .certificate import certificate_of
from .column_generation import generate, pricings
from .instance import PdOrsInstance, PdOrsSolution
from .kernel import Plan, Progress, best_plans
from .restricted_master import RestrictedMaster
from .slot_methods import SlotOptions
from .terms import Floats, Ints, JobTerms

#: Parts of a job's work, and numbers of workers tried, where exact ones would be many.
QUANTA = 60
GRID = 16
#: Scales of the prices of the first placements.
FIRST_SCALES = (0.5, 1.0)
#: Range of the scales in ruin and recreate, and of the exponents of its noise on payoffs.
LEAST_SCALE, GREATEST_SCALE = 0.2, 1.3
NOISE = 0.5
#: Jobs taken out: at most this part of all, and at least so many.
REMOVED_PART, FEWEST_REMOVED = 0.3, 2
#: Relative loss that is accepted at first; it falls to nothing.
ACCEPTED_LOSS = 0.01
#: Part of the time for column generation.
PRICES_PART = 0.4


@dataclass(frozen=True)
class Prices:
    """What column generation leaves: prices, what each job would earn at them, and their bound.

    Attributes
    ----------
    price : array, shape (slots, machines, resources)
        Per unit.
    payoff : array, shape (jobs,)
    bound : float
        As computed by column generation; the certificate's is the one to rely on.
    """

    price: Floats
    payoff: Floats
    bound: float


def relaxation_prices(instance: PdOrsInstance, limits: Limits) -> Prices:
    """Return prices of the linear relaxation of (10), or the best ones met within the time."""
    master = RestrictedMaster(instance)
    jobs = pricings(instance)
    start = first_prices(instance, limits, master)
    done = generate(master, jobs, limits, quanta=(QUANTA,), start=start)
    price = done.price[:, master.classes.of_machine]
    return Prices(price, np.maximum(master.payoff, 0.0), done.bound)


class Placing:
    """Jobs placed on machines, and the room that they leave.

    Attributes
    ----------
    plans : dict of job to Plan
    value : float
        Total utility.
    """

    def __init__(self, instance: PdOrsInstance):
        shape = (instance.horizon_slots, *instance.terms.capacity.shape)
        self._room: Ints = np.broadcast_to(instance.terms.capacity, shape).copy()
        self.plans: dict[int, Plan] = {}
        self.value = 0.0

    def copy(self) -> Placing:
        """Return one that can be changed by itself."""
        other = Placing.__new__(Placing)
        other._room, other.plans, other.value = self._room.copy(), dict(self.plans), self.value
        return other

    def place(
        self, job: JobTerms, price: Floats, least: float, progress: Progress, options: SlotOptions
    ) -> bool:
        """Place a job where its utility exceeds the cost most, if by `least`."""
        if not self._has_volume(job):
            return False
        plans = best_plans(
            job, price, self._room, progress=progress, quanta=QUANTA, options=options
        ).values()
        useful = [plan for plan in plans if job.utility[plan.completion] > 0]
        best = max(useful, key=lambda p: job.utility[p.completion] - p.cost, default=None)
        if best is None or job.utility[best.completion] - best.cost < least:
            return False
        self._charge(best, 1)
        self.plans[job.index] = best
        self.value += float(job.utility[best.completion])
        return True

    def remove(self, i: int) -> None:
        """Take a job out."""
        plan = self.plans.pop(i)
        self._charge(plan, -1)
        self.value -= float(plan.job.utility[plan.completion])

    def decision(self, jobs: int) -> PdOrsSolution:
        """Return the schedules of all jobs."""
        placed = (self.plans.get(i) for i in range(jobs))
        return PdOrsSolution(schedules=tuple(plan.slots if plan else None for plan in placed))

    def _has_volume(self, job: JobTerms) -> bool:
        """Say whether the slots in which it earns have room for its work, were they one machine."""
        n = job.least_worker_slots
        need = job.alpha * n + job.beta * job.least_server_slots(n)
        last = int(np.flatnonzero(job.utility > 0)[-1])
        return bool((need <= self._room[job.arrival - 1 : last].sum(axis=(0, 1))).all())

    def _charge(self, plan: Plan, times: int) -> None:
        usage = plan.usage
        np.subtract.at(self._room, (usage.slots - 1, usage.machines), times * usage.amounts)


@dataclass
class PricedSearch:
    """Ruin and recreate at given prices.

    Attributes
    ----------
    instance : PdOrsInstance
    prices : Prices
    rng : numpy.random.Generator
    best : Placing or None
        The best one so far.
    """

    instance: PdOrsInstance
    prices: Prices
    rng: np.random.Generator
    best: Placing | None = None
    trace: list[TracePoint] = field(default_factory=list)

    def run(self, limits: Limits, rounds: int, enough: float = math.inf) -> bool:
        """Search for so many rounds, or until a value; say whether it was stopped by the time."""
        began = time.perf_counter()
        until = math.inf if limits.time_s is None else began + limits.time_s
        jobs = {j.index: j for j in self.instance.terms.jobs if _can_earn(j)}

        def kept(placing: Placing) -> bool:
            """Keep the best; say whether to go on."""
            if self.best is None or placing.value > self.best.value:
                self.best = placing.copy()
                at = time.perf_counter() - began
                self.trace.append(TracePoint(at, placing.value, None))
            return self.best.value < enough

        def recreate(placing: Placing, order: Sequence[int], scale: float) -> bool:
            """Place what is not, first what is worth its price; say whether there was time."""
            price = scale * self.prices.price
            for least in (0.0, -math.inf):
                for i in order:
                    if time.perf_counter() > until:
                        return False
                    if i not in placing.plans:
                        placing.place(jobs[i], price, least, "auto", SlotOptions("auto", grid=GRID))
            return True

        payoff = self.prices.payoff
        others = 0.1 * float(payoff.mean())
        first = sorted(jobs, key=lambda i: (-payoff[i], i))
        current = None
        for scale in FIRST_SCALES:
            placing = Placing(self.instance)
            in_time = recreate(placing, first, scale)
            if not kept(placing) or not in_time:
                return not in_time
            if current is None or placing.value > current.value:
                current = placing
        assert current is not None
        for k in range(rounds):
            placing = current.copy()
            for i in self._removed(placing):
                placing.remove(i)
            noise = np.exp(self.rng.normal(0.0, NOISE, len(payoff)))
            # Jobs without a payoff come late, but not always last.
            order = sorted(jobs, key=lambda i: (-(payoff[i] + others) * noise[i], i))
            scale = float(self.rng.uniform(LEAST_SCALE, GREATEST_SCALE))
            if not recreate(placing, order, scale):
                kept(placing)
                return True
            if not kept(placing):
                return False
            loss = ACCEPTED_LOSS * (1 - k / rounds)
            if placing.value >= current.value * (1 - loss):
                current = placing
        return False

    def _removed(self, placing: Placing) -> list[int]:
        """Return placed jobs, half of the time only such that run in one slot."""
        busy = sorted(placing.plans)
        if not busy:
            return []
        if self.rng.random() < 0.5:
            t = int(self.rng.integers(1, self.instance.horizon_slots + 1))
            running = [i for i in busy if any(use.slot == t for use in placing.plans[i].uses)]
            busy = running or busy
        most = max(FEWEST_REMOVED, int(REMOVED_PART * len(placing.plans)))
        number = min(len(busy), int(self.rng.integers(FEWEST_REMOVED, most + 1)))
        chosen = self.rng.choice(len(busy), size=number, replace=False)
        return [busy[k] for k in chosen.tolist()]


def _can_earn(job: JobTerms) -> bool:
    return job.earliest is not None and bool(job.utility[job.earliest] > 0)


def priced_search(
    instance: PdOrsInstance, limits: Limits, rng: np.random.Generator, *, rounds: int = 300
) -> MethodOutcome:
    """Return the best decision that ruin and recreate at the relaxation's prices finds.

    The bound is that of the prices, with its certificate.

    Parameters
    ----------
    instance : PdOrsInstance
    limits : Limits
        `time_s` is looked at before each job that is priced or placed.
    rng : numpy.random.Generator
    rounds : int, default 300
        Of ruin and recreate.
    """
    began = time.perf_counter()
    for_prices = limits
    if limits.time_s is not None:
        for_prices = replace(limits, time_s=PRICES_PART * limits.time_s)
    prices = relaxation_prices(instance, for_prices)
    passed = time.perf_counter() - began
    left = limits
    if limits.time_s is not None:
        left = replace(limits, time_s=max(0.0, limits.time_s - passed))
    search = PricedSearch(instance, prices, rng)
    stopped = search.run(left, rounds, prices.bound * (1 - limits.rel_gap))
    best = search.best or Placing(instance)
    return MethodOutcome(
        solution=best.decision(len(instance.jobs)),
        claimed_objective=best.value,
        certificate=certificate_of(instance, prices.price),
        limit_hit="time_s" if stopped else None,
        trace=tuple(replace(point, time_s=point.time_s + passed) for point in search.trace),
        phases_s={"prices": passed, "search": time.perf_counter() - began - passed},
    )
