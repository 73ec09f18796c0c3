r"""Algorithms 1-4 of PD-ORS, step by step.

Nothing here is fast. The linear program of Algorithm 4 is a subroutine; its optimal vertex is not
unique, and what is rounded depends on the one that is returned. The paper's text was not at hand:
algorithms and constants are (reconstructed: recalled), along those of OASiS.

Letters, as in the paper: job i arrives at a_i, takes E_i epochs of K_i samples, at most F_i workers
and a server for gamma_i of them; a worker demands alpha_i^r and a server beta_i^r of resource r,
machine h has C_h^r; kappa_i are slots for each sample and worker, sigma = kappa^ext / kappa^int,
and W = E K kappa^ext is the work in external worker-slots; u_i(d) is the utility of completing d
slots after the arrival; rho_h^r[t] is what is promised, p_h^r[t] its price. Amounts are in whole
units.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np

from ..instance import PdOrsInstance, PdOrsSolution, Placement, SlotPlan
from ..subproblems.slot_relaxation import SlotLp
from ..terms import JobTerms, Terms

#: What one slot costs, and holds of a job.
Placed = tuple[float, tuple[Placement, ...]]
#: Cost so far, and the slots used with their placements.
Label = tuple[float, tuple[SlotPlan, ...]]
#: Placements in a slot, or plans of several.
What = TypeVar("What")


@dataclass
class State:
    """Promised units rho[t][h][r] in all slots, and the logarithms of U^r and L."""

    terms: Terms
    rho: list[list[list[int]]]
    log_upper: list[float]
    log_lower: float

    def price(self, t: int, h: int, r: int) -> float:
        """Return p = L (U / L)^(rho / C) per unit; L where U is less."""
        C = int(self.terms.capacity[h, r])
        promised = self.rho[t - 1][h][r] / C if C else 0.0
        log_p = self.log_lower + max(0.0, self.log_upper[r] - self.log_lower) * promised
        return math.exp(log_p) * float(self.terms.unit[r])

    def room(self, t: int, h: int) -> list[int]:
        """Return the free units of a machine in a slot."""
        C = self.terms.capacity[h].tolist()
        return [c - taken for c, taken in zip(C, self.rho[t - 1][h], strict=True)]


def pd_ors(instance: PdOrsInstance, seed: int, S: int = 50) -> PdOrsSolution:
    """Algorithm 1: accept each job on arrival at its best schedule's payoff, or reject it."""
    terms = instance.terms
    machines, resources = terms.capacity.shape
    nothing = [[[0] * resources for _ in range(machines)] for _ in range(terms.horizon)]
    state = State(terms, nothing, *constants(terms))
    schedules: list[tuple[SlotPlan, ...] | None] = [None for _ in terms.jobs]
    for i in sorted(range(len(terms.jobs)), key=lambda i: (terms.jobs[i].arrival, i)):
        job = terms.jobs[i]
        best = best_schedule(job, state, seed, S)
        # lambda_i = max(0, payoff); accept if it is positive, up to rounding
        if best is None or best[0] <= 1e-12 * float(job.utility.max()):
            continue  # rejected for ever
        schedules[i] = best[1]
        for plan in best[1]:  # fixed for ever; rho grows by what it takes
            for place in plan.placements:
                for r in range(resources):
                    taken = place.workers * int(job.alpha[r]) + place.servers * int(job.beta[r])
                    state.rho[plan.slot - 1][place.machine][r] += taken
    return PdOrsSolution(schedules=tuple(schedules))


def constants(terms: Terms) -> tuple[list[float], float]:
    """Section 5.1: ln U^r and ln L, which need to know all jobs.

    U^r = max_i u_i(d_i^min) / (the lesser positive of alpha_i^r, beta_i^r), as OASiS has it, with
    d_i^min = ceil(E K kappa^int / F) - 1. L = min_i u_i(T - a_i) / (2 mu ceil(E K kappa^ext)
    sum_r (alpha + beta)), mu = max_i T sum C / (ceil(E K kappa^int) sum_r (alpha + beta)). A
    job of no utility at T counts with its last positive one (reconstructed).
    """
    unit = [float(u) for u in terms.unit]
    log_upper = [-math.inf for _ in unit]
    for job in terms.jobs:
        d_min = math.ceil(samples(job) * job.kappa_internal / job.batch) - 1
        for r in range(len(unit)):
            positive = [int(d[r]) for d in (job.alpha, job.beta) if d[r] > 0]
            if positive:
                log_u = job.job.utility.log_at(d_min)
                log_upper[r] = max(log_upper[r], log_u - math.log(min(positive) * unit[r]))
    demand = {
        job.index: sum(float(d) * u for d, u in zip(job.alpha + job.beta, unit, strict=True))
        for job in terms.jobs
    }
    asking = [job for job in terms.jobs if demand[job.index] > 0]
    volume = terms.horizon * sum(
        float(C) * u for row in terms.capacity for C, u in zip(row, unit, strict=True)
    )
    if not asking or not volume:
        return log_upper, 0.0
    mu = max(
        volume / (math.ceil(samples(job) * job.kappa_internal) * demand[job.index])
        for job in asking
    )
    lowest = []
    for job in asking:
        delays = range(terms.horizon - job.arrival, -1, -1)
        logs = [job.job.utility.log_at(d) for d in delays]
        last = next((x for x in logs if x > -math.inf), -math.inf)
        work = math.ceil(samples(job) * job.kappa_external)
        lowest.append(last - math.log(2 * mu) - math.log(work) - math.log(demand[job.index]))
    return log_upper, min((x for x in lowest if x > -math.inf), default=0.0)


def samples(job: JobTerms) -> int:
    """Return E K."""
    return job.job.epochs * job.job.samples


def best_schedule(
    job: JobTerms, state: State, seed: int, S: int
) -> tuple[float, tuple[SlotPlan, ...]] | None:
    """Algorithms 2 and 3: the schedule of the largest payoff, of equal ones the earliest.

    Label setting over sigma A + B, with A internal and B external worker-slots, in place of the
    printed recursion over samples (reconstructed: own), which is exact.
    """
    best: tuple[float, tuple[SlotPlan, ...]] | None = None
    labels: dict[Fraction, Label] = {Fraction(0): (0.0, ())}
    for t in range(job.arrival, state.terms.horizon + 1):
        options = pareto(slot_table(job, t, state, seed, S))
        grown = dict(labels)
        done: Label | None = None
        # ties go to the label that has come further (reconstructed)
        for progress, (cost, plans) in sorted(labels.items(), reverse=True, key=lambda x: x[0]):
            for more, (paid, placements) in options.items():
                label = cost + paid, (*plans, SlotPlan(slot=t, placements=placements))
                if progress + more >= job.work:  # done in t; not extended
                    if done is None or label[0] < done[0]:
                        done = label
                elif progress + more not in grown or label[0] < grown[progress + more][0]:
                    grown[progress + more] = label
        labels = pareto(grown.items())
        if done is not None:
            payoff = float(job.utility[t]) - done[0]
            if best is None or payoff > best[0]:
                best = payoff, done[1]
    return best


def pareto(
    entries: Iterable[tuple[Fraction, tuple[float, What]]],
) -> dict[Fraction, tuple[float, What]]:
    """Return, by progress, the entries that are cheaper than all of as much progress or more.

    Of equal ones the first is kept.
    """
    front: dict[Fraction, tuple[float, What]] = {}
    least = math.inf
    for progress, entry in sorted(entries, reverse=True, key=lambda x: (x[0], -x[1][0])):
        if entry[0] < least:
            least = entry[0]
            front[progress] = entry
    return dict(sorted(front.items(), key=lambda x: x[0]))


def slot_table(
    job: JobTerms, t: int, state: State, seed: int, S: int
) -> list[tuple[Fraction, Placed]]:
    """Algorithm 4: the ways to use slot t, with their progress in external worker-slots."""
    machines = range(len(state.terms.capacity))
    resources = range(len(state.terms.unit))
    p = [[state.price(t, h, r) for r in resources] for h in machines]
    cw = [sum(p[h][r] * int(job.alpha[r]) for r in resources) for h in machines]
    cs = [sum(p[h][r] * int(job.beta[r]) for r in resources) for h in machines]
    room = [state.room(t, h) for h in machines]
    found: list[tuple[Fraction, Placed]] = []
    # the linear programs of one slot follow each other, as the fast table's do
    lp = SlotLp(job, np.array(cw), np.array(cs), np.array(room))
    for n in range(1, job.batch + 1):
        rng = np.random.default_rng([seed, job.index, t, n])
        inside = internal(job, n, cw, cs, room)
        if inside is not None:
            found.append((min(job.work, job.sigma * n), inside))
        spread = external(job, n, cw, cs, room, lp, S, rng)
        if spread is not None:
            found.append((min(job.work, Fraction(n)), spread))
    return found


def internal(
    job: JobTerms, n: int, cw: list[float], cs: list[float], room: list[list[int]]
) -> Placed | None:
    """The cheapest machine on which n workers and ceil(n / gamma) servers fit; ties lowest h."""
    s = math.ceil(n / job.gamma)
    fitting = [h for h in range(len(room)) if takes(job, n, s, room[h])]
    if not fitting:
        return None
    h = min(fitting, key=lambda h: (n * cw[h] + s * cs[h], h))
    return n * cw[h] + s * cs[h], (Placement(machine=h, workers=n, servers=s),)


def takes(job: JobTerms, w: int, s: int, room: Sequence[int]) -> bool:
    """Return True if w workers and s servers fit into a machine's free units (17)."""
    demands = zip(job.alpha.tolist(), job.beta.tolist(), room, strict=True)
    return all(w * a + s * b <= free for a, b, free in demands)


def external(
    job: JobTerms,
    n: int,
    cw: list[float],
    cs: list[float],
    room: list[list[int]],
    lp: SlotLp,
    S: int,
    rng: np.random.Generator,
) -> Placed | None:
    """N workers spread over machines: the LP optimum of (13)-(17), rounded up to S times; G = 1."""
    machines = range(len(room))
    m = math.ceil(n / job.gamma)
    capacity = [sum(row[r] for row in room) for r in range(len(room[0]))]
    if n > job.most_external or not takes(job, n, m, capacity):
        return None
    xbar = lp.point(n)
    if xbar is None:
        return None  # infeasible
    x = [*xbar.workers.tolist(), *xbar.servers.tolist()]
    chosen = [int(x_j) for x_j in x]
    if not all(x_j % 1 == 0 for x_j in x) or not accepted(job, n, chosen, room):
        for _ in range(S):
            chosen = [math.floor(x_j) + (rng.random() < x_j - math.floor(x_j)) for x_j in x]
            if accepted(job, n, chosen, room):
                break
        else:
            return None
    # surplus workers and servers are taken away, dearest first (reconstructed)
    w = trimmed(chosen[: len(room)], n, cw)
    s = trimmed(chosen[len(room) :], m, cs)
    placements = tuple(
        Placement(machine=h, workers=w[h], servers=s[h]) for h in machines if w[h] or s[h]
    )
    return sum(w[h] * cw[h] + s[h] * cs[h] for h in machines), placements


def accepted(job: JobTerms, n: int, chosen: list[int], room: list[list[int]]) -> bool:
    """Return True if n <= sum w <= F, gamma sum s >= sum w, and all machines hold theirs."""
    w, s = chosen[: len(room)], chosen[len(room) :]
    enough = n <= sum(w) <= job.batch and job.gamma * sum(s) >= sum(w)
    return enough and all(takes(job, *each) for each in zip(w, s, room, strict=True))


def trimmed(count: list[int], wanted: int, cost: list[float]) -> list[int]:
    """Return numbers that sum to `wanted` at most, the dearest removed."""
    out, surplus = list(count), sum(count) - wanted
    for h in sorted(range(len(out)), key=lambda h: (-cost[h], h)):
        taken = max(0, min(surplus, out[h]))
        out[h] -= taken
        surplus -= taken
    return out
