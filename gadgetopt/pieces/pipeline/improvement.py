"""Short schedules of a plan, by rules and local search; no solver.

Rules: rounds; 1F1B; all forwards first; and dispatching by tails, where every free machine takes
the ready block after which most time has to pass. The last is made for long AllReduces of late
stages and for loaded channels. Local search moves the backward blocks of one machine earlier or
later.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.pieces.pipeline.dispatch import dispatch
from gadgetopt.pieces.pipeline.one_machine import HeadsTails, heads_and_tails
from gadgetopt.pieces.pipeline.orders import (
    allowed_warmups,
    gpipe_orders,
    round_orders,
    warmup_orders,
)
from gadgetopt.pieces.pipeline.shop import Shop
from gadgetopt.pieces.pipeline.simulator import Schedule, simulate
from gadgetopt.search.clock import Clock


def tail_schedule(shop: Shop, blocks: HeadsTails | None = None) -> Schedule:
    """Return the schedule in which free machines take the ready block of the largest tail."""
    blocks = blocks or heads_and_tails(shop)
    return dispatch(shop, [None] * shop.num_machines, (blocks.fwd_tail, blocks.bwd_tail))


def rule_schedules(shop: Shop, enough: int = 0) -> list[Schedule]:
    """Return schedules by all rules, until one is no longer than `enough` units."""
    schedules = []
    for rule in (_rounds, tail_schedule, _warmed_up, _gpipe):
        schedule = rule(shop)
        if schedule is None:
            continue
        schedules.append(schedule)
        if schedule.makespan <= enough:
            break
    return schedules


def _rounds(shop: Shop) -> Schedule:
    return simulate(shop, round_orders(shop))


def _warmed_up(shop: Shop) -> Schedule:
    last = shop.num_machines - 1
    warmups = [last - q + 1 for q in range(last + 1)]
    return simulate(shop, warmup_orders(shop, allowed_warmups(shop, warmups)))


def _gpipe(shop: Shop) -> Schedule | None:
    return None if shop.memory_limited else simulate(shop, gpipe_orders(shop))


def short_schedule(shop: Shop, enough: int = 0) -> Schedule:
    """Return the shortest of the rules' schedules; `enough` is a lower bound on the makespan."""
    return min(rule_schedules(shop, enough), key=lambda schedule: schedule.makespan)


def improved_schedule(
    shop: Shop, bound: int, clock: Clock, rng: np.random.Generator, *, rounds: int = 200
) -> Schedule:
    """Return a short schedule by local search over dispatching by tails.

    A move adds to the tails of one machine's forward blocks, so that they go earlier or later
    against its backward blocks; it is kept if the schedule is no longer.

    Parameters
    ----------
    shop : Shop
    bound : int
        Lower bound in units; a schedule that attains it ends the search.
    clock : Clock
    rng : numpy.random.Generator
    rounds : int
        Number of moves.
    """
    best = short_schedule(shop, bound)
    blocks = heads_and_tails(shop)
    base = np.array(blocks.fwd_tail, dtype=object)
    shifts = [0] * shop.num_machines
    value = tail_schedule(shop, blocks).makespan
    for _ in range(rounds):
        if best.makespan <= bound or clock.expired:
            break
        q = int(rng.integers(shop.num_machines))
        scale = (shop.fwd[q] + shop.bwd[q]) * float(rng.choice([0.25, 0.5, 1, 2, 4]))
        moved = list(shifts)
        moved[q] += round(scale * float(rng.uniform(-1, 1)))
        fwd = [list(row + shift) for row, shift in zip(base, moved, strict=True)]
        schedule = dispatch(shop, [None] * shop.num_machines, (fwd, blocks.bwd_tail))
        if schedule.makespan <= value:
            value, shifts = schedule.makespan, moved
        if schedule.makespan < best.makespan:
            best = schedule
    return best
