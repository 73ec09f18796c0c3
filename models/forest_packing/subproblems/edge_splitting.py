r"""Edge splitting: a network without switches that packs the same trees.

Algorithm A6.3 (Bang-Jensen, Frank and Jackson). Arcs (u, w) and (w, t) at a switch w are replaced,
:math:`\gamma` units at a time, by an arc (u, t) that remembers its path. A super-source s with arcs
of capacity m_r to the workers r can send :math:`K = \sum_r m_r` units to every worker, and must
still be able to: a cut Q loses :math:`\gamma` if it separates w from both u and t, so

.. math:: \gamma \le c(\delta^+(Q)) - K

for all Q with s that leave some worker out. On an Eulerian network everything can be split off.

Instead of two maximum flows per worker and pair of arcs, as published, one flow of K to each worker
is kept and repaired. A split keeps the flow that runs over u, w, t. Only if more runs over u, w or
over w, t than the capacity left must the rest be rerouted. The amount that cannot be rerouted is
exactly the excess of :math:`\gamma`, and reveals a cut without slack. Slack never rises, so such a
cut rules out later splits without any flow.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from gadgetopt.numbers.arrays import Bools
from gadgetopt.pieces.graphs.flows import BigInts, dense_max_flow
from gadgetopt.search.clock import Clock

from ..packing import Route

#: Ways from a worker to another with the units that each carries.
Ways = dict[tuple[int, int], deque[tuple[Route, int]]]


@dataclass
class _State:
    """Capacities with the super-source as last node, and a flow of K to every worker.

    `flow[v]` is the net flow to worker v, skew-symmetric.
    """

    capacity: BigInts  # (n + 1, n + 1)
    flow: BigInts  # (workers, n + 1, n + 1)
    ways: Ways
    tight: list[Bools] = field(default_factory=list)
    repairs: int = 0


def split_off_switches(
    num_workers: int,
    capacity: BigInts,
    root_multiplicity: Sequence[int],
    clock: Clock | None = None,
) -> Ways:
    r"""Return arcs between workers that hold the same arborescences, as ways over switches.

    Parameters
    ----------
    num_workers : int
        Nodes 0..num_workers-1 are workers, the others switches.
    capacity : integer ndarray, shape (nodes, nodes)
    root_multiplicity : integers >= 0, shape (num_workers,)
        m_r; every worker must be able to receive their sum from roots that send m_r each.
    clock : Clock, optional
        Of the run.

    Returns
    -------
    dict
        For pairs of workers the ways between them with their units. Capacity left at a switch is
        dropped; there is some only if capacities in and out of some node differ.

    Raises
    ------
    ValueError
        If the workers cannot receive that much.
    TimeoutError
        If time is up first.
    """
    n = len(capacity)
    state = _start(num_workers, capacity, root_multiplicity)
    for w in range(num_workers, n):
        out = np.flatnonzero(state.capacity[w])
        into = np.flatnonzero(state.capacity[:, w])
        # Shares in proportion first: many thin arcs between workers make shallow trees.
        total = int(state.capacity[w].sum())
        shares = {
            (int(u), int(t)): int(state.capacity[u, w])
            * int(state.capacity[w, t])
            // max(1, total - int(state.capacity[w, u]))
            for t in out
            for u in into
            if u != t
        }
        rest = sorted(((int(u), int(t)) for t in out for u in into), key=lambda ut: ut[0] == ut[1])
        for (u, t), most in [*shares.items(), *((ut, None) for ut in rest)]:
            if clock is not None and clock.expired:
                raise TimeoutError("switches were not all removed in time")
            _split(state, u, w, t, most)
    return {
        (u, t): ways
        for (u, t), ways in sorted(state.ways.items())
        if ways and max(u, t) < num_workers
    }


def _start(num_workers: int, capacity: BigInts, root_multiplicity: Sequence[int]) -> _State:
    n = len(capacity)
    total = sum(root_multiplicity)
    extended = np.zeros((n + 1, n + 1), dtype=capacity.dtype)
    extended[:n, :n] = capacity
    extended[n, :num_workers] = root_multiplicity
    flow = np.zeros((num_workers, n + 1, n + 1), dtype=capacity.dtype)
    for v in range(num_workers):
        found = dense_max_flow(extended, n, v)
        if found.value < total:
            raise ValueError(f"root_multiplicity: worker {v} can receive {found.value} of {total}")
        pattern = found.pattern
        flow[v, pattern.rows, pattern.columns] = (
            extended[pattern.rows, pattern.columns] - found.residual
        )
    ways: Ways = defaultdict(deque)
    for u, v in zip(*np.nonzero(capacity), strict=True):
        ways[int(u), int(v)].append(((int(u), int(v)), int(capacity[u, v])))
    return _State(extended, flow, ways)


def _split(state: _State, u: int, w: int, t: int, most: int | None) -> None:
    """Split off as much of (u, w) and (w, t) as may be, but at most `most`."""
    capacity = state.capacity
    amount = int(min(capacity[u, w], capacity[w, t]))
    if most is not None:
        amount = min(amount, most)
    if amount == 0 or any(q[u] == q[t] and q[u] != q[w] for q in state.tight):
        return
    repaired, missing, cut = _try(state, u, w, t, amount)
    if missing:
        while missing:
            amount -= missing
            full = cut
            repaired, missing, cut = _try(state, u, w, t, amount)
        # Of the cuts met only the last has no slack once `amount` is split off.
        state.tight.append(full)
    if amount == 0:
        return
    _shift(state.flow, u, w, t, amount)
    for v, flow in repaired.items():
        state.flow[v] = flow
    capacity[u, w] -= amount
    capacity[w, t] -= amount
    first, second = _take(state.ways[u, w], amount), _take(state.ways[w, t], amount)
    if u != t:
        capacity[u, t] += amount
        state.ways[u, t].extend(_joined(first, second))


def _try(
    state: _State, u: int, w: int, t: int, amount: int
) -> tuple[dict[int, BigInts], int, Bools]:
    """Repair the flows for a split; return them, the most that is missing, and a cut that says so.

    Stops at the first worker whose flow cannot be repaired.
    """
    capacity, flow = state.capacity, state.flow
    via = np.clip(np.minimum(flow[:, u, w], flow[:, w, t]), 0, amount)
    over_in = flow[:, u, w] - via - (capacity[u, w] - amount)
    over_out = flow[:, w, t] - via - (capacity[w, t] - amount)
    repaired: dict[int, BigInts] = {}
    for v in np.flatnonzero(np.maximum(over_in, over_out) > 0).tolist():
        state.repairs += 1
        changed = flow[v : v + 1].copy()
        _shift(changed, u, w, t, amount)
        after = capacity.copy()
        after[u, w] -= amount
        after[w, t] -= amount
        if u != t:
            after[u, t] += amount
        a, b, excess = (u, w, over_in[v]) if over_in[v] > 0 else (w, t, over_out[v])
        _push(changed[0], a, b, -excess)
        missing, reached = _reroute(after, changed[0], a, b, int(excess))
        if missing:
            return {}, missing, reached
        repaired[v] = changed[0]
    return repaired, 0, np.zeros(len(capacity), dtype=bool)


def _shift(flow: BigInts, u: int, w: int, t: int, amount: int) -> None:
    """Send the flows that run over u, w, t, up to `amount`, from u to t directly."""
    via = np.clip(np.minimum(flow[:, u, w], flow[:, w, t]), 0, amount)
    for a, b, sign in ((u, w, -1), (w, t, -1), (u, t, 1)):
        if a != b:
            flow[:, a, b] += sign * via
            flow[:, b, a] -= sign * via


def _push(flow: BigInts, a: int, b: int, amount: int) -> None:
    flow[a, b] += amount
    flow[b, a] -= amount


def _reroute(capacity: BigInts, flow: BigInts, a: int, b: int, amount: int) -> tuple[int, Bools]:
    """Send more from a to b in the residual; return the shortfall and the nodes still reached."""
    left = capacity - flow
    # Over at most one node, all at once.
    over = np.minimum(left[a], left[:, b])
    over[b] = left[a, b]
    over[a] = 0
    sent = np.minimum(over, np.maximum(0, amount - (np.cumsum(over) - over)))
    used = np.flatnonzero(sent)
    for x in used.tolist():
        for p, q in ((a, x), (x, b)) if x != b else ((a, b),):
            _push(flow, p, q, sent[x])
            left[p, q] -= sent[x]
            left[q, p] += sent[x]
    amount -= int(sent.sum())
    reached = np.zeros(len(capacity), dtype=bool)
    while amount > 0:
        parent, reached = _search(left, a, b)
        if not reached[b]:
            return amount, reached
        path = [b]
        while path[-1] != a:
            path.append(int(parent[path[-1]]))
        arcs = [(q, p) for p, q in pairwise(path)]
        step = min(amount, *(int(left[p, q]) for p, q in arcs))
        for p, q in arcs:
            _push(flow, p, q, step)
            left[p, q] -= step
            left[q, p] += step
        amount -= step
    return 0, reached


def _search(left: BigInts, a: int, b: int) -> tuple[BigInts, Bools]:
    """Search for b from a, breadth first; return parents and the nodes reached."""
    open_arcs = left > 0
    parent = np.full(len(left), -1)
    reached = np.zeros(len(left), dtype=bool)
    reached[a] = True
    queue = deque([a])
    while queue and not reached[b]:
        x = queue.popleft()
        new = np.flatnonzero(open_arcs[x] & ~reached)
        reached[new] = True
        parent[new] = x
        queue.extend(new.tolist())
    return parent, reached


def _take(ways: deque[tuple[Route, int]], amount: int) -> list[tuple[Route, int]]:
    """Subtract units."""
    taken = []
    while amount > 0:
        route, units = ways.popleft()
        if units > amount:
            ways.appendleft((route, units - amount))
            units = amount
        taken.append((route, units))
        amount -= units
    return taken


def _joined(
    first: list[tuple[Route, int]], second: list[tuple[Route, int]]
) -> list[tuple[Route, int]]:
    """Join ways into w with ways out of w, without running round in circles."""
    heads, tails = deque(first), deque(second)
    joined = []
    while heads:
        units = min(heads[0][1], tails[0][1])
        ((head, _),), ((tail, _),) = _take(heads, units), _take(tails, units)
        joined.append((_without_circles(head + tail[1:]), units))
    return joined


def _without_circles(route: Route) -> Route:
    out: list[int] = []
    for v in route:
        if v in out:
            del out[out.index(v) :]
        out.append(v)
    return tuple(out)
