"""Construction and local search: greedy, the relaxation rounded down, improved by exchanges."""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import shares
from gadgetopt.search.clock import Clock

#: Number of exchanges tried in pairs, those of the smallest reduced loss.
#: Tuned: `benchmarks/constants.py`.
EXCHANGES = 240
#: Least gain of an exchange, relative to the largest profit. Tuned: `benchmarks/constants.py`.
LEAST_GAIN = 1e-12


def first_choice(knapsack: Knapsack, y: Floats, losses: Floats, clock: Clock) -> Ints | None:
    """Return a feasible choice near a solution of the linear relaxation; None if none is found.

    Exchanges give a group another item, or none. As long as one or two together gain profit and
    fit, the best are made.

    Parameters
    ----------
    knapsack : Knapsack
    y : ndarray of float, shape (items,)
        A solution of the linear relaxation.
    losses : ndarray of float, shape (items,)
        Loss of the Lagrangian bound if an item is chosen; not negative.
    clock : Clock
    """
    item_of = _rounded(knapsack, y)
    slack = knapsack.capacity - knapsack.weight[item_of[item_of >= 0]].sum(axis=0)
    tolerance = knapsack.sum_tolerance
    if np.any(slack < -tolerance) and not _repair(knapsack, item_of, losses, slack, tolerance):
        return None
    while not clock.expired and _improve(knapsack, item_of, losses, slack, tolerance):
        pass
    return np.sort(item_of[item_of >= 0])


def _rounded(knapsack: Knapsack, y: Floats) -> Ints:
    """Return each group's item, or -1: whole items, or the largest part if an item is needed."""
    item_of = np.full(knapsack.num_groups, -1, dtype=np.int64)
    by_part = np.argsort(y, kind="stable")
    taken = by_part if knapsack.exactly_one else by_part[y[by_part] > 1 - 1e-6]
    item_of[knapsack.owner[taken]] = taken
    return item_of


def _exchanges(knapsack: Knapsack, item_of: Ints, items: Ints) -> tuple[Ints, Ints, Floats, Floats]:
    """Return group, new item or -1, gain in profit and in weight of every exchange."""
    group, new = knapsack.owner[items], items
    if not knapsack.exactly_one:
        held = np.flatnonzero(item_of >= 0)
        group = np.concatenate([group, held])
        new = np.concatenate([new, np.full(len(held), -1, dtype=np.int64)])
    old = item_of[group]
    # Index -1 reads the last row, which stands for no item.
    profit = np.append(knapsack.profit[items], 0.0)
    weight = np.vstack([knapsack.weight[items], np.zeros(len(knapsack.capacity))])
    place = np.full(len(new), -1, dtype=np.int64)
    place[: len(items)] = np.arange(len(items))
    held_profit = np.where(old >= 0, knapsack.profit[old], 0.0)
    held_weight = np.where((old >= 0)[:, None], knapsack.weight[old], 0.0)
    changed = old != new
    gain, load = profit[place] - held_profit, weight[place] - held_weight
    return group[changed], new[changed], gain[changed], load[changed]


def _improve(
    knapsack: Knapsack, item_of: Ints, losses: Floats, slack: Floats, tolerance: Floats
) -> bool:
    """Make the best exchange of one or two groups; return True if it gains."""
    items = np.argsort(losses, kind="stable")[:EXCHANGES]
    least = LEAST_GAIN * float(np.abs(knapsack.profit).max(initial=0.0))
    group, new, gain, load = _exchanges(knapsack, item_of, items)
    if len(group) > 2 * EXCHANGES:
        # Only items in the core are candidates to give up.
        loss = np.where(new >= 0, losses[new], np.abs(gain))
        some = np.argsort(loss, kind="stable")[: 2 * EXCHANGES]
        group, new, gain, load = group[some], new[some], gain[some], load[some]
    room = slack + tolerance
    pair_gain = gain[:, None] + gain[None, :]
    fits = group[:, None] != group[None, :]
    for r in range(load.shape[1]):
        fits &= load[:, None, r] + load[None, :, r] <= room[r]
    pair_gain = np.where(fits, pair_gain, -np.inf)
    single = np.where((load <= room).all(axis=1), gain, -np.inf)
    best_single = int(single.argmax()) if len(single) else -1
    best_pair = int(pair_gain.argmax()) if len(single) else -1
    if best_single < 0 or max(single[best_single], pair_gain.flat[best_pair]) <= least:
        return False
    moves = [best_single]
    if pair_gain.flat[best_pair] > single[best_single]:
        moves = [int(i) for i in np.unravel_index(best_pair, pair_gain.shape)]
    for move in moves:
        item_of[group[move]] = new[move]
        slack -= load[move]
    return True


def _repair(
    knapsack: Knapsack, item_of: Ints, losses: Floats, slack: Floats, tolerance: Floats
) -> bool:
    """Exchange items until the choice fits, by overload saved per profit lost."""
    scale = np.where(knapsack.capacity > 0, knapsack.capacity, 1.0)
    items = np.argsort(losses, kind="stable")[: 50 * EXCHANGES]
    while np.any(slack < -tolerance):
        group, new, gain, load = _exchanges(knapsack, item_of, items)
        if not len(group):
            return False
        over = np.maximum(0.0, -slack / scale).sum()
        saved = over - np.maximum(0.0, -(slack - load) / scale).sum(axis=1)
        # The least double keeps exchanges between items without profit defined.
        least = 1e-9 * float(np.abs(knapsack.profit).max(initial=0.0)) + 5e-324
        lost = np.maximum(-gain, least)
        best = int(np.argmax(np.where(saved > 1e-12, saved / lost, -np.inf)))
        if saved[best] <= 1e-12:
            return False
        item_of[group[best]] = new[best]
        slack -= load[best]
    return True


def by_density(knapsack: Knapsack) -> Ints:
    """Return the items that fit, taken in the order of profit per part of their fullest row."""
    share = shares(knapsack)
    with np.errstate(divide="ignore", invalid="ignore"):
        density = np.where(share > 0, knapsack.profit / share, np.inf)
    left = knapsack.capacity.copy()
    chosen = []
    for c in np.argsort(-density, kind="stable").tolist():
        if np.all(knapsack.weight[c] <= left):
            left -= knapsack.weight[c]
            chosen.append(c)
    return np.sort(np.array(chosen, dtype=np.int64))
