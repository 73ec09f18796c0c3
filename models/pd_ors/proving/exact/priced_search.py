r"""Ruin and recreate: jobs placed one by one at the prices of the column relaxation.

Reconstructed. At the prices of the linear relaxation of (10) a job's best schedule avoids the slots
and resources that others need more. Jobs are placed in turn, each with its best schedule in the
capacity that is left. Then some of them are taken out and placed again, in another order and at
prices scaled up or down: at lower prices a job completes earlier and leaves less for those after
it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import PdOrsInstance
from ...terms import JobTerms
from ..bounds.column_generation import (
    generate,
    pricings,
)
from ..bounds.column_lp import first_prices
from ..bounds.restricted_master import RestrictedMaster
from ..certificate.check import certificate_of
from .job_placement import (
    QUANTA,
    Placing,
)
from .slot_checks import SlotChecks
from .slot_packing import Item
from .slot_repair import repaired

#: Scales of the prices of the first placements. Tuned: `benchmarks/constants.py`.
FIRST_SCALES = (0.5, 1.0)
#: Range of the scales in ruin and recreate, and how much the order of jobs varies.
#: Tuned: `benchmarks/constants.py`.
LEAST_SCALE, GREATEST_SCALE = 0.2, 1.3
NOISE = 0.5
#: Jobs taken out: at most this part of all, and at least this many.
#: Tuned: `benchmarks/constants.py`.
REMOVED_PART, FEWEST_REMOVED = 0.3, 2
#: Relative loss that is accepted at first; it falls to nothing. Tuned: `benchmarks/constants.py`.
ACCEPTED_LOSS = 0.01
#: Part of the time for column generation, and for a choice of columns.
#: Tuned: `benchmarks/constants.py`.
PRICES_PART, CHOOSING_PART = 0.4, 0.3
#: Part of that time for the program, at most these seconds, and the gap at which it may stop.
#: Tuned: `benchmarks/constants.py`.
CHOICE_PART, MOST_CHOICE_S, CHOICE_GAP = 0.7, 30.0, 0.002
#: Part of all capacities that the choice of columns leaves free, as slots do not pack to the brim.
#: Tuned: `benchmarks/constants.py`.
RESERVE = 0.01


@dataclass(frozen=True)
class Prices:
    """Result of column generation.

    Attributes
    ----------
    price : array, shape (slots, machines, resources)
        Per unit.
    payoff : array, shape (jobs,)
        Payoff of each job at these prices.
    earned : array, shape (jobs,)
        Utility of each job in the relaxation.
    bound : float
        As computed by column generation; the certificate's is the one to rely on.
    master : RestrictedMaster
        With the columns that were generated.
    interrupted : bool
        True if Ctrl-C ended column generation.
    """

    price: Floats
    payoff: Floats
    earned: Floats
    bound: float
    master: RestrictedMaster
    interrupted: bool = False


def relaxation_prices(instance: PdOrsInstance, limits: Limits) -> Prices:
    """Return prices of the linear relaxation of (10), or the best ones met within the time."""
    clock = Clock(limits)
    master = RestrictedMaster(instance)
    jobs = pricings(instance)
    start = first_prices(instance, clock.limits(), master)
    done = generate(master, jobs, clock.limits(), quanta=(QUANTA,), start=start)
    price = done.price[:, master.classes.of_machine]
    earned = np.zeros(len(instance.jobs))
    for column, share in zip(master.columns, master.shares.tolist(), strict=False):
        earned[column.job] += share * column.utility
    interrupted = done.limit_hit == "interrupted"
    return Prices(price, np.maximum(master.payoff, 0.0), earned, done.bound, master, interrupted)


def chosen(instance: PdOrsInstance, prices: Prices, limits: Limits) -> Placing:
    """Return a placing from an integer choice of the columns, some capacity kept in reserve.

    Columns know classes of machines only; where a slot does not pack, jobs are placed again.
    """
    clock = Clock(limits)
    of_choice = replace(clock.limits(CHOICE_PART, MOST_CHOICE_S), rel_gap=CHOICE_GAP)
    columns = prices.master.choice(RESERVE, of_choice)
    items: dict[int, list[Item]] = {}
    for column in columns:
        for use in column.uses:
            items.setdefault(use.slot, []).append(Item(column.job, use.internal, use.workers))
    by_slot = {t: tuple(sorted(items[t])) for t in sorted(items)}
    checks = SlotChecks(instance.terms, clock)
    verdicts = {t: checks.check(by_slot[t]).packing for t in by_slot}
    packed = {t: packing.counts for t, packing in verdicts.items() if packing.fits}
    return repaired(instance, by_slot, packed, prices.price, clock)


@dataclass
class PricedSearch:
    """Ruin and recreate at given prices.

    Attributes
    ----------
    instance : PdOrsInstance
    prices : Prices
    rng : numpy.random.Generator
    best : Placing or None
        The best one so far; one to start from may be given.
    found : callable
        Told of each better one.
    """

    instance: PdOrsInstance
    prices: Prices
    rng: np.random.Generator
    best: Placing | None = None
    found: Callable[[Placing], object] = lambda _: None

    def run(self, limits: Limits, rounds: int, enough: float = math.inf) -> bool:
        """Search for a number of rounds, or until a value; return True if the time stopped it."""
        clock = Clock(limits)
        jobs = {j.index: j for j in self.instance.terms.jobs if _can_earn(j)}

        def kept(placing: Placing) -> bool:
            """Keep the best; return True if the search goes on."""
            if self.best is None or placing.value > self.best.value:
                self.best = placing.copy()
                self.found(self.best)
            return self.best.value < enough

        def recreate(placing: Placing, order: Sequence[int], scale: float) -> bool:
            """Place the jobs left out, first those worth their price; True if there was time."""
            price = scale * self.prices.price
            for least in (0.0, -math.inf):
                for i in order:
                    if clock.expired:
                        return False
                    if i not in placing.placed:
                        placing.place(jobs[i], price, least)
            return True

        # Order in which jobs are placed: by either value, with some noise. Jobs of value 0 come
        # late, but not always last.
        worths = [w + 0.1 * float(w.mean()) for w in (self.prices.payoff, self.prices.earned)]
        current = self.best
        for worth in worths:
            first = sorted(jobs, key=lambda i: (-worth[i], i))
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
            worth = worths[k % 2] * np.exp(self.rng.normal(0.0, NOISE, len(self.instance.jobs)))
            order = sorted(jobs, key=lambda i: (-worth[i], i))
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
        busy = sorted(placing.placed)
        if not busy:
            return []
        if self.rng.random() < 0.5:
            t = int(self.rng.integers(1, self.instance.horizon_slots + 1))
            running = [i for i in busy if (placing.placed[i].usage.slots == t).any()]
            busy = running or busy
        most = max(FEWEST_REMOVED, int(REMOVED_PART * len(placing.placed)))
        number = min(len(busy), int(self.rng.integers(FEWEST_REMOVED, most + 1)))
        chosen = self.rng.choice(len(busy), size=number, replace=False)
        return [busy[k] for k in chosen.tolist()]


def _can_earn(job: JobTerms) -> bool:
    return job.earliest is not None and bool(job.utility[job.earliest] > 0)


@method(kind="heuristic", reference="ruin and recreate (reconstructed)", formulation="column_lp")
def priced_search(
    instance: PdOrsInstance, limits: Limits, rng: np.random.Generator, *, rounds: int = 300
) -> MethodOutcome:
    """Jobs placed at the prices of the column relaxation, some taken out and placed again.

    Return the best decision that ruin and recreate at the relaxation's prices finds.

    The bound is that of the prices, with its certificate.

    Parameters
    ----------
    instance : PdOrsInstance
    limits : Limits
        `time_s` is checked before each job that is priced or placed.
    rng : numpy.random.Generator
    rounds : int, default 300
        Of ruin and recreate.
    """
    search: Search[Placing] = Search("max", limits)
    clock = search.clock

    def offer(placing: Placing) -> None:
        search.offer(placing.value, placing)

    with clock.phase("prices"):
        prices = relaxation_prices(instance, clock.limits(PRICES_PART))
    with clock.phase("search"):
        start = chosen(instance, prices, clock.limits(CHOOSING_PART))
        offer(start)
        placings = PricedSearch(instance, prices, rng, start, offer)
        if placings.run(clock.limits(), rounds, prices.bound * (1 - limits.rel_gap)):
            search.limit_hit = "time_s"
    outcome = search.outcome((search.best or start).decision())
    outcome.certificate = certificate_of(instance, prices.price)
    return outcome
