"""Short schedules of a plan, by rules and local search; no solver.

Rules: rounds; 1F1B; all forwards first; and dispatching by tails, where every free machine takes
the ready block after which most time has to pass. The last is made for long AllReduces of late
stages and for loaded channels. Local search dispatches forward and back in time by turns.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gadgetopt.pieces.pipeline.dispatch import Tails, dispatch
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

#: Turns without a shorter schedule before one is disturbed. Tuned: `benchmarks/constants.py`.
MOST_TURNS = 3


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
    """Return a short schedule: the rules', then dispatching forward and back in time by turns.

    A schedule built backward in time serves a block the later the more time lies before it in the
    last forward schedule, and the other way round (forward-backward improvement). When that ends,
    the tails of one machine's forward blocks are moved against its backward blocks, and it begins
    again; a move is kept if the schedule is no longer.

    Parameters
    ----------
    shop : Shop
    bound : int
        Lower bound in units; a schedule that attains it ends the search.
    clock : Clock
    rng : numpy.random.Generator
    rounds : int
        Number of schedules built forward and back.
    """
    best = short_schedule(shop, bound)
    current, turned = best, turned_around(shop)
    value = best.makespan
    since = 0
    for _ in range(rounds):
        if best.makespan <= bound or clock.expired:
            break
        start = _shifted(current, rng) if since >= MOST_TURNS else current
        back = dispatch(turned, [None] * shop.num_machines, _times_before(start), shop.allreduce)
        found = dispatch(shop, [None] * shop.num_machines, _times_before(back))
        candidates = [found, simulate(shop, _turned_orders(back.orders))]
        shorter = min(candidates, key=lambda schedule: schedule.makespan)
        if shorter.makespan < best.makespan:
            best = shorter
        if since < MOST_TURNS or shorter.makespan <= value:
            since = 0 if shorter.makespan < value else since + 1
            current, value = shorter, min(value, shorter.makespan)
    return best


def turned_around(shop: Shop) -> Shop:
    """Return the shop in reversed time: a backward block is the forward block of its machine.

    The AllReduce of a stage becomes the moment before which it serves no block.
    """
    none = (0,) * shop.num_machines
    return replace(shop, fwd=shop.bwd, bwd=shop.fwd, allreduce=none)


def _times_before(schedule: Schedule) -> Tails:
    """Return the starts as the tails of reversed time: for forward and backward blocks there."""
    return (
        [row[::-1] for row in schedule.bwd_start],
        [row[::-1] for row in schedule.fwd_start],
    )


def _turned_orders(orders: list[list[int]]) -> list[list[int]]:
    """Return orders of reversed time as orders of the shop."""
    last = len(orders[0]) // 2 + 1
    return [[-(last - m) if m > 0 else last + m for m in reversed(order)] for order in orders]


def _shifted(schedule: Schedule, rng: np.random.Generator) -> Schedule:
    """Return starts of which those of one machine's forward blocks are moved by some periods."""
    shop = schedule.shop
    q = int(rng.integers(shop.num_machines))
    scale = float(rng.choice([0.25, 0.5, 1, 2, 4])) * float(rng.uniform(-1, 1))
    shift = round((shop.fwd[q] + shop.bwd[q]) * scale)
    fwd = [list(row) for row in schedule.fwd_start]
    fwd[q] = [start + shift for start in fwd[q]]
    return replace(schedule, fwd_start=fwd)
