r"""Ruin and recreate with slots packed again: a compiled search from a known decision.

Reconstructed. As `priced_search`, jobs are taken out of a schedule and placed again, one by one, at
the prices of the column relaxation with noise. Here the slots that they leave are packed anew, so
that room comes together, a job has a few numbers of workers to choose from in every slot, and all
of it is compiled: thousands of rounds where `priced_search` has tens. Worse schedules are kept as
in annealing, which starts again from the best one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ...instance import (
    PdOrsInstance,
    PdOrsSolution,
    SlotPlan,
)
from ...subproblems.decoding import (
    slot_plan,
    solution,
)
from ...subproblems.labels import (
    exact_scale,
    quantised_scale,
)
from ...terms import JobTerms
from .priced_search import Prices
from .repacking_loops import (
    SINGLE_DRAWS,
    ruin_and_recreate,
)
from .repacking_state import (
    Data,
    Scratch,
    State,
    value_of,
)

#: Quanta of a job's work, where those that count it exactly are more.
#: Tuned: `benchmarks/constants.py`.
QUANTA = 800
#: Rounds that are drawn together, and of one annealing. Tuned: `benchmarks/constants.py`.
CHUNK, ANNEALING = 100, 8_000
#: Entries of the states of all rounds between two looks at the clock.
#: Tuned: `benchmarks/constants.py`.
ENTRIES = 5_000_000
#: Relative losses that annealing keeps, at first and in the end. Tuned: `benchmarks/constants.py`.
HOT, COLD = 3e-3, 1e-4
#: Least price of a slot's capacity, relative to what the jobs are worth.
#: Tuned: `benchmarks/constants.py`.
PRICE_FLOOR = 1e-3
#: Jobs taken out in a round, at most. Tuned: `benchmarks/constants.py`.
MOST_REMOVED = 6
#: Entries of a state up to which it is worth copying in every round.
#: Tuned: `benchmarks/constants.py`.
MOST_ENTRIES = 4_000_000


def search_data(instance: PdOrsInstance, price: Floats, worth: Floats) -> Data:
    """Return the constants of an instance for the compiled loops.

    Parameters
    ----------
    price : array, shape (slots, machines, resources)
        Per unit.
    worth : array, shape (2, jobs)
        Orders in which jobs are placed, those worth most first.
    """
    jobs, terms = instance.terms.jobs, instance.terms
    width = max(job.batch for job in jobs) + 1
    shape = (len(jobs), width)
    servers, usable = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.bool_)
    inside, spread = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    need_inside = np.zeros((len(jobs), QUANTA + 1), dtype=np.int64)
    need_spread = need_inside.copy()
    level, last = np.ones(len(jobs), dtype=np.int64), np.full(len(jobs), -1)
    for i, job in enumerate(jobs):
        n = job.batch + 1
        servers[i, :n], usable[i, :n] = job.servers, job.usable
        if job.earliest is None or job.utility[job.earliest] <= 0:
            continue
        last[i] = int(np.flatnonzero(job.utility).max()) - 1
        scale = exact_scale(job)
        if scale.level > QUANTA:
            scale = quantised_scale(job, QUANTA)
        level[i] = scale.level
        inside[i, :n], spread[i, :n] = scale.internal, scale.external
        if instance.locality == "internal_only":
            spread[i] = 0
        need_inside[i], need_spread[i] = (_needed(job, row[i, :n]) for row in (inside, spread))
    # What costs nothing is not wasted, either.
    most = float(terms.capacity.sum(axis=0).max())
    floor = PRICE_FLOOR * float(worth.sum()) / max(1.0, most * len(price))
    alpha = np.array([job.alpha for job in jobs])
    return Data(
        capacity=np.array(terms.capacity, dtype=np.int64, order="C"),
        alpha=alpha,
        per_alpha=np.divide(1.0, alpha, out=np.zeros(alpha.shape), where=alpha > 0),
        beta=np.array([job.beta for job in jobs]),
        servers=servers,
        usable=usable,
        batch=np.array([job.batch for job in jobs]),
        first=np.array([job.arrival - 1 for job in jobs]),
        last=last,
        utility=np.array([job.utility[1:] for job in jobs]),
        inside=inside,
        spread=spread,
        level=level,
        need_inside=need_inside,
        need_spread=need_spread,
        price=np.ascontiguousarray(np.maximum(price.mean(axis=1), floor)),
        worth=np.ascontiguousarray(worth),
    )


def _needed(job: JobTerms, progress: Ints) -> Ints:
    """Return the least usable number of workers for each number of quanta."""
    usable = np.flatnonzero(job.usable)
    at = np.searchsorted(progress[usable], np.arange(QUANTA + 1), "left")
    return np.asarray(np.append(usable, job.batch + 1)[at])


def empty_state(instance: PdOrsInstance) -> State:
    """Return the schedule of no job."""
    slots, jobs = instance.horizon_slots, len(instance.jobs)
    machines, _ = instance.terms.capacity.shape
    room = np.broadcast_to(instance.terms.capacity, (slots, *instance.terms.capacity.shape))
    units = np.zeros((slots, machines, jobs), dtype=np.int64)
    run = np.zeros((jobs, slots), dtype=np.int64)
    return State(
        room=np.array(room, dtype=np.int64, order="C"),
        workers=units,
        servers=units.copy(),
        run=run,
        completion=np.full(jobs, -1),
        stamp=np.full(slots, -1),
    )


def new_scratch(instance: PdOrsInstance) -> Scratch:
    """Return scratch space that knows of no slot."""
    shape = (len(instance.jobs), instance.horizon_slots)
    zeros = np.zeros(shape, dtype=np.int64)
    return Scratch(
        at=np.zeros(len(instance.machines), dtype=np.int64),
        hopeless=np.zeros(len(instance.jobs), dtype=np.bool_),
        stamps=np.zeros(1, dtype=np.int64),
        seen=np.full(shape, -1),
        inside=zeros,
        spread=zeros.copy(),
    )


def _set(target: State, source: State) -> None:
    """Make one state equal to another; a loop of its own for that would be compiled once more."""
    for array, other in zip(target, source, strict=True):
        array[...] = other


def state_of(instance: PdOrsInstance, decision: PdOrsSolution) -> State:
    """Return the state of a decision."""
    state = empty_state(instance)
    for i, schedule in enumerate(decision.schedules):
        job = instance.terms.jobs[i]
        for plan in schedule or ():
            n = sum(p.workers for p in plan.placements)
            t = plan.slot - 1
            if not n:
                continue
            for p in plan.placements:
                state.workers[t, p.machine, i] = p.workers
                state.servers[t, p.machine, i] = p.servers
                state.room[t, p.machine] -= p.workers * job.alpha + p.servers * job.beta
            state.run[i, t] = n if len(plan.placements) == 1 else -n
            state.completion[i] = max(state.completion[i], t)
    return state


def decision_of(instance: PdOrsInstance, state: State) -> PdOrsSolution:
    """Return the decision of a state."""
    plans: dict[int, list[SlotPlan | None]] = {}
    for i in np.flatnonzero(state.completion >= 0).tolist():
        job, plans[i] = instance.terms.jobs[i], []
        for t in np.flatnonzero(state.run[i]).tolist():
            w, s = state.workers[t, :, i], state.servers[t, :, i]
            counts = {h: (int(w[h]), int(s[h])) for h in np.flatnonzero(w + s).tolist()}
            plans[i].append(slot_plan(job, t + 1, counts))
    return solution(instance, plans)


def worth_searching(instance: PdOrsInstance) -> bool:
    """Return True if the state is small enough to be copied in every round."""
    return _entries(instance) <= MOST_ENTRIES


def _entries(instance: PdOrsInstance) -> int:
    """Return the number of entries of a state, about."""
    return len(instance.machines) * instance.horizon_slots * len(instance.jobs)


@dataclass
class RepackingSearch:
    """The search at given prices, from a decision.

    Attributes
    ----------
    instance : PdOrsInstance
    prices : Prices
    rng : numpy.random.Generator
    rounds : int
        Done so far.
    interrupted : bool
        True if Ctrl-C ended the last run, which has its decision all the same.
    """

    instance: PdOrsInstance
    prices: Prices
    rng: np.random.Generator
    rounds: int = field(default=0)
    interrupted: bool = field(default=False)

    def run(
        self, decision: PdOrsSolution, limits: Limits, rounds: int, enough: float = np.inf
    ) -> PdOrsSolution:
        """Return the best decision found in a number of rounds, or until a value.

        The clock is looked at after fewer rounds where they take long; that changes no decision.
        """
        clock = Clock(limits)
        prices = self.prices
        worth = np.array([w + 0.1 * float(w.mean()) for w in (prices.payoff, prices.earned)])
        data = search_data(self.instance, prices.price, worth)
        best = state_of(self.instance, decision)
        current, trial, spare = (empty_state(self.instance) for _ in range(3))
        scratch = new_scratch(self.instance)
        _set(current, best)
        slots, jobs = self.instance.horizon_slots, len(self.instance.jobs)
        done, together = 0, max(1, ENTRIES // _entries(self.instance))
        try:
            # As plain Python: machine code for this would be compiled once more.
            while done < rounds and not clock.expired and value_of.plain(data, best) < enough:
                if done % ANNEALING == 0:
                    _set(current, best)
                at = np.arange(done % ANNEALING, done % ANNEALING + CHUNK) / ANNEALING
                heat = HOT * (COLD / HOT) ** at
                uniform = self.rng.random((CHUNK, SINGLE_DRAWS + jobs))
                normal = self.rng.normal(size=(CHUNK, jobs + slots))
                for k in range(0, CHUNK, together):
                    some = slice(k, k + together)
                    draws = uniform[some], normal[some], heat[some]
                    ruin_and_recreate(
                        data, current, best, trial, spare, scratch, *draws, MOST_REMOVED
                    )
                    if clock.expired:
                        break
                done += CHUNK
        except KeyboardInterrupt:  # between two calls of compiled loops: the best state is whole
            self.interrupted = True
        self.rounds += done
        return decision_of(self.instance, best)
