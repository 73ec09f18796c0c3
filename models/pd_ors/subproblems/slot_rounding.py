r"""Randomised rounding of the program of one slot.

The external case of Algorithm 4, after PD-ORS. The linear relaxation of (13)-(17) with a worker or
server fixed to 0 on machines where not one of them fits, its optimum :math:`\bar x` scaled to
:math:`G \bar x` and rounded at most S times, each number on its own; an attempt is accepted if it
has at least n workers and at most F, servers for the workers it has, and fits. An optimum that is
integral is taken as it is. What the printed algorithm does when no attempt is accepted is to give
up the number n; deterministic fall-backs, the choice of the best instead of the first attempt, and
taking surplus away are (reconstructed).

Scaled by :math:`G_\delta` of the rounding lemma (`gadgetopt.pieces.bicriteria`) attempts are next
to never accepted: below 1 they lack workers, above 1 they overload machines. And for some programs
none is ever accepted whatever G, depending on the vertex that the linear program returns: with
three machines that hold 3, a worker of 2 and a server of 1, n = 3 workers and 1 server, the vertex
w = (1.5, 1.5, 0), s = (0, 0, 1) always puts two workers on one machine, where w = (1, 1.5, 0.5), s
= (1, 0, 0) of the same cost succeeds one time in four.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.pieces.bicriteria import Regime
from gadgetopt.pieces.rounding import Keep, Tail, round_mixed

from ..instance import Placement
from ..terms import JobTerms
from .greedy_tables import greedy_table
from .slot_relaxation import SlotLp
from .slot_tables import Placements, Room, exact_table

Fallback = Literal["none", "greedy", "exact_dp"]
Origin = Literal["integral", "rounded", "fallback", "none"]


@dataclass(frozen=True)
class SlotRounding:
    """Result of Algorithm 4 for n workers in a slot.

    Attributes
    ----------
    placements : tuple of Placement or None
    cost : float
        Infinite if there are no placements.
    origin : str
        Where they come from: the linear optimum was integral, an attempt, the fall-back.
    lp_cost : float
        Cost of the linear optimum; infinite if there is none.
    failed : int
        Attempts that were not accepted, of all that were made.
    """

    placements: Placements | None
    cost: float
    origin: Origin
    lp_cost: float
    failed: int = 0


def slot_rounding(
    job: JobTerms,
    n: int,
    worker_cost: Floats,
    server_cost: Floats,
    room: Ints,
    *,
    factor: float = 1.0,
    attempts: int = 50,
    keep: Keep = "first",
    trim: bool = True,
    fallback: Fallback = "none",
    seed_key: Sequence[int],
    lp: SlotLp | None = None,
) -> SlotRounding:
    """Return the result of Algorithm 4 for n workers spread over machines in one slot.

    Parameters
    ----------
    job : JobTerms
    n : int
        Workers, from 1 to F.
    worker_cost, server_cost : array of float, shape (machines,)
        c^w_h and c^s_h.
    room : array of int, shape (machines, resources)
        Free capacity, in units.
    factor : float
        G, positive; 1 is best in practice, see `slot_factor` for the lemma's.
    attempts : int
        S.
    keep : "first" or "best"
        Which accepted attempt.
    trim : bool
        True to take surplus workers and servers away, the dearest first.
    fallback : "none", "greedy" or "exact_dp"
        What to do if no attempt is accepted.
    seed_key : sequence of int
        Seed, job, slot and n: the generator is this call's own, so that results do not depend on
        the order in which slots are looked at.
    lp : SlotLp, optional
        The slot's relaxation, where it is used for several n.

    Raises
    ------
    ModelRefused
        If a parameter is out of its range.
    """
    if fallback not in {"none", "greedy", "exact_dp"}:
        raise ModelRefused(f"fallback: {fallback!r}, expected 'none', 'greedy' or 'exact_dp'")
    if not factor > 0 or attempts < 1:
        raise ModelRefused("rounding: factor is to be positive, and attempts at least 1")
    nothing = SlotRounding(None, math.inf, "none", math.inf)
    if not 1 <= n <= min(job.batch, job.most_external) or not job.usable[n]:
        return nothing
    point = (lp or SlotLp(job, worker_cost, server_cost, room)).point(n)
    if point is None:
        return nothing
    costs = np.concatenate([worker_cost, server_cost])
    machines = len(room)

    def accepted(candidates: Ints) -> Bools:
        return acceptable(job, n, candidates[:, :machines], candidates[:, machines:], room, trim)

    def cost(candidates: Ints) -> Floats:
        total: Floats = candidates @ costs
        return total

    start = np.concatenate([point.workers, point.servers])
    whole = start.astype(np.int64)
    failed = 0
    origin: Origin = "integral"
    if not point.integral or not accepted(whole[None, :])[0]:
        found = round_mixed(
            start,
            accepted,
            cost,
            np.random.default_rng(list(seed_key)),
            factor=factor,
            attempts=attempts,
            keep=keep,
        )
        origin, failed = "rounded", found.failed
        if found.x is None:
            placements = _fall_back(job, n, worker_cost, server_cost, room, fallback)
            if placements is None:
                return SlotRounding(None, math.inf, "none", point.cost, failed)
            paid = sum(
                worker_cost[p.machine] * p.workers + server_cost[p.machine] * p.servers
                for p in placements
            )
            return SlotRounding(placements, float(paid), "fallback", point.cost, failed)
        whole = np.array(found.x, dtype=np.int64)
    workers, servers = whole[:machines], whole[machines:]
    if trim:
        workers = trimmed(workers, n, worker_cost)
        servers = trimmed(servers, int(job.servers[n]), server_cost)
    placements = tuple(
        Placement(machine=int(h), workers=int(workers[h]), servers=int(servers[h]))
        for h in np.flatnonzero(workers + servers)
    )
    paid = float(worker_cost @ workers + server_cost @ servers)
    return SlotRounding(placements, paid, origin, point.cost, failed)


def acceptable(
    job: JobTerms, n: int, workers: Ints, servers: Ints, room: Ints, trim: bool
) -> Bools:
    """Return a mask of the accepted attempts, shape (attempts,), of shape (attempts, machines).

    At an exact ratio only attempts that are trimmed to n workers and their servers have it, or
    have it by chance.
    """
    w, s = workers.sum(axis=1), servers.sum(axis=1)
    load = workers[:, :, None] * job.alpha + servers[:, :, None] * job.beta
    fits = (load <= room).all(axis=(1, 2)) & (w >= n) & (w <= job.batch)
    needed = job.servers[np.minimum(w, job.batch)]
    if job.instance.ratio == "at_least":
        return np.asarray(fits & (s >= needed))
    if trim:
        return np.asarray(fits & (s >= job.servers[n]))
    return np.asarray(fits & (s == needed) & job.usable[np.minimum(w, job.batch)])


def trimmed(count: Ints, wanted: int, cost: Floats) -> Ints:
    """Return numbers per machine that sum to `wanted` at most, the dearest units removed."""
    out, surplus = count.copy(), int(count.sum()) - wanted
    for h in np.argsort(-cost, kind="stable").tolist():
        taken = min(surplus, int(out[h]))
        out[h] -= taken
        surplus -= taken
    return out


def slot_factor(
    job: JobTerms, n: int, room: Ints, regime: Regime, delta: float, *, tail: Tail = "corrected"
) -> float:
    """Return G_delta of a regime for n workers in a slot; 0 where the regime has none.

    Raises
    ------
    ModelRefused
        If delta is not in (0, 1].
    """
    nothing = np.zeros(len(room))
    rows = SlotLp(job, nothing, nothing, room).rows(n)
    try:
        return rows.factor(regime, delta, tail=tail)
    except ValueError as error:
        raise ModelRefused(f"rounding: {error}") from error


def _fall_back(
    job: JobTerms,
    n: int,
    worker_cost: Floats,
    server_cost: Floats,
    room: Ints,
    fallback: Fallback,
) -> Placements | None:
    if fallback == "none":
        return None
    slot = Room(worker_cost, server_cost, room)
    table = (
        exact_table(job, slot) if fallback == "exact_dp" else greedy_table(job, slot, np.array([n]))
    )
    return table.placements(False, n) if math.isfinite(table.external[n]) else None
