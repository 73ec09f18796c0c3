"""Simulated annealing of a partition, with overfull parts charged, not forbidden.

Exact balance leaves hardly a move feasible, so loads may pass their caps on the way. The charge for
it grows while the temperature falls, and only partitions within the caps are kept. Nodes without
weight do not take part: they fill what is left.
"""

from __future__ import annotations

import math

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.numbers.compiled import compiled
from gadgetopt.search.clock import Clock

from ..subproblems.balance import balanced
from ..subproblems.local_search import Weighted

#: First and last temperature, as parts of the mean weight that a node has.
#: Tuned: `benchmarks/constants.py`.
FIRST, LAST = 1.0, 0.01
#: Share of proposals of any part, without which what lies in one part alone would stay there.
#: Tuned: `benchmarks/constants.py`.
ANYWHERE = 0.02
#: Temperatures of an annealing. Tuned: `benchmarks/constants.py`.
STEPS = 50
#: Most proposals for each node, times the nodes. Twice as many found nothing better on eight
#: instances of 40 to 160 nodes. Tuned: `benchmarks/constants.py`.
SWEEPS_A_NODE = 64
#: First and last charge for a node above a cap, in mean weights of a node.
#: Tuned: `benchmarks/constants.py`.
LEAST_CHARGE, MOST_CHARGE = 0.5, 2.0


def anneal(
    weighted: Weighted, part: Ints, sweeps: int, clock: Clock, rng: np.random.Generator
) -> Ints:
    """Return the best partition within the caps that an annealing meets, or its last, repaired.

    Parameters
    ----------
    weighted : Weighted
    part : ndarray of int, shape (nodes,)
        Where it begins.
    sweeps : int
        Proposals for each node with weight, at most; fewer where there are few nodes.
    clock : Clock
        Ends it between two temperatures.
    rng : numpy.random.Generator
        Draws the proposals.
    """
    matrix, trained = weighted.matrix, weighted.trained
    starts = matrix.indptr.astype(np.int64)
    movable = np.flatnonzero(np.diff(starts))
    if not len(movable):
        return part
    now = part.copy()
    load = np.bincount(now[movable], minlength=weighted.parts)
    train_load = np.bincount(now[movable[trained[movable]]], minlength=weighted.parts)
    caps = np.array([weighted.node_cap, weighted.train_cap])
    unit = float(matrix.data.sum()) / len(movable)
    over = int(np.maximum(load - caps[0], 0).sum() + np.maximum(train_load - caps[1], 0).sum())
    # Cut less that of the start, now and at the best, and nodes above the caps, each cap by itself.
    best, state = now.copy(), np.array([0.0, 0.0 if over == 0 else np.inf, over])
    sweeps = min(sweeps, SWEEPS_A_NODE * len(movable))
    each = max(1, len(movable) * sweeps // STEPS)
    temperatures = np.geomspace(FIRST * unit, LAST * unit, STEPS).tolist()
    charges = np.geomspace(LEAST_CHARGE * unit, MOST_CHARGE * unit, STEPS).tolist()
    for temperature, charge in zip(temperatures, charges, strict=True):
        if clock.expired:
            break
        _propose(
            *(starts, matrix.indices.astype(np.int64), matrix.data, trained, movable, caps),
            *(now, load, train_load, best, state),
            *(rng.random((each, 3)), temperature, charge),
        )
    if np.isinf(state[1]):
        best = now
    try:
        pull = weighted.pull(best)
        return balanced(best, trained, pull, weighted.node_cap, weighted.train_cap)
    except ValueError:  # the loads could not be repaired
        return part


@compiled
def _propose(
    starts: Ints,
    near: Ints,
    weight: Ints,
    trained: Bools,
    movable: Ints,
    caps: Ints,
    part: Ints,
    load: Ints,
    train_load: Ints,
    best: Ints,
    state: Floats,
    drawn: Floats,
    temperature: float,
    charge: float,
) -> None:
    """Propose moves of random nodes, mostly to a random neighbour's part; keep the best state."""
    for r in range(len(drawn)):
        v = movable[int(drawn[r, 0] * len(movable))]
        begin, end = starts[v], starts[v + 1]
        own = part[v]
        if drawn[r, 1] < ANYWHERE:
            to = int(drawn[r, 1] / ANYWHERE * len(load))
        else:
            share = (drawn[r, 1] - ANYWHERE) / (1 - ANYWHERE)
            to = part[near[begin + int(share * (end - begin))]]
        if to == own:
            continue
        change = 0
        for e in range(begin, end):
            if part[near[e]] == own:
                change += weight[e]
            elif part[near[e]] == to:
                change -= weight[e]
        over = int(load[to] >= caps[0]) - int(load[own] > caps[0])
        if trained[v]:
            over += int(train_load[to] >= caps[1]) - int(train_load[own] > caps[1])
        cost = change + charge * over
        if cost > 0 and drawn[r, 2] >= math.exp(-cost / temperature):
            continue
        part[v] = to
        load[own] -= 1
        load[to] += 1
        if trained[v]:
            train_load[own] -= 1
            train_load[to] += 1
        state[0] += change
        state[2] += over
        if state[2] == 0 and state[0] < state[1]:
            state[1] = state[0]
            for k in range(len(part)):
                best[k] = part[k]
