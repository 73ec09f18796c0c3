"""Inner loops of `arborescence_peeling`: maximum flows, wide arborescences, exact growth of one.

Arcs are given by `tails` and `heads`; the arcs at node v, leaving and entering, are
`incident[first[v]:first[v + 1]]`. Numbers are 64-bit integers whose sums the caller has checked.

Room for a number of each node is a copy of `first`, and marks of nodes are the caller's: other new
arrays take numba a second to compile.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gadgetopt.numbers.arrays import Bools, Ints
from gadgetopt.numbers.compiled import compiled
from gadgetopt.numbers.loop_pieces import put

#: A graph: tails, heads, first, incident.
Arcs = tuple[Ints, Ints, Ints, Ints]
#: Sets of nodes that limit the rate of a tree: the sets, by how much the demand is exceeded by what
#: enters each, how often the tree enters it.
Limited = tuple[Bools, Ints, Ints]


@compiled
def before(arcs: Arcs, capacity: Ints, flow: Ints, a: int, v: int) -> tuple[int, int]:
    """Return the other end of an arc at v, and how much more can flow from there to v over it."""
    if arcs[1][a] == v:
        return arcs[0][a], capacity[a] - flow[a]
    return arcs[1][a], flow[a]


@compiled
def short_flow(arcs: Arcs, capacity: Ints, source: Bools, sink: int, wanted: int) -> int:
    """Return a flow over paths of one or two arcs, or `wanted` if that is less.

    Most flows that are asked for are this short, and it looks at the arcs of the source and of the
    sink only.
    """
    tails, heads, first, incident = arcs
    demand = first.copy()
    demand[:] = 0
    value = 0
    for k in range(first[sink], first[sink + 1]):
        a = incident[k]
        if heads[a] != sink:
            continue
        if source[tails[a]]:
            value += capacity[a]
        else:
            demand[tails[a]] += capacity[a]
    for u in range(len(source)):
        if value >= wanted:
            return wanted
        if not source[u]:
            continue
        for k in range(first[u], first[u + 1]):
            a = incident[k]
            v = heads[a]
            if tails[a] == u and not source[v]:
                sent = min(capacity[a], demand[v])
                demand[v] -= sent
                value += sent
    return min(value, wanted)


@compiled
def flow_into(
    arcs: Arcs, capacity: Ints, source: Bools, sink: int, wanted: int, reached: Bools
) -> int:
    """Return the maximum flow from a set of nodes to a sink, or `wanted` if that is less (Dinic).

    Parameters
    ----------
    source : ndarray of bool, shape (nodes,)
        The nodes where flow may begin, without the sink.
    reached : ndarray of bool, shape (nodes,)
        Set to the source side of a minimum cut if the flow is less than `wanted`.
    """
    if short_flow(arcs, capacity, source, sink, wanted) == wanted:
        return wanted
    tails, heads, first, incident = arcs
    n = len(source)
    flow = capacity.copy()
    flow[:] = 0
    level, queue, place, path = first.copy(), first.copy(), first.copy(), first.copy()
    value = 0
    while value < wanted:
        size = 0
        for v in range(n):
            level[v] = -1
            if source[v]:
                level[v] = 0
                queue[size] = v
                size += 1
        at = 0
        while at < size and level[sink] < 0:
            u = queue[at]
            at += 1
            for k in range(first[u], first[u + 1]):
                a = incident[k]
                if tails[a] == u:
                    v, left = heads[a], capacity[a] - flow[a]
                else:
                    v, left = tails[a], flow[a]
                if left > 0 and level[v] < 0:
                    level[v] = level[u] + 1
                    queue[size] = v
                    size += 1
        if level[sink] < 0:
            for v in range(n):
                reached[v] = level[v] >= 0
            return value
        # Paths are searched from the sink, backwards, one level down at a time.
        for v in range(n):
            place[v] = first[v]
        u, depth = sink, 0
        while True:
            if level[u] == 0:
                push = wanted - value
                v = sink
                for d in range(depth):
                    v, left = before(arcs, capacity, flow, path[d], v)
                    push = min(push, left)
                value += push
                v = sink
                keep = depth
                for d in range(depth):
                    a = path[d]
                    flow[a] += push if heads[a] == v else -push
                    w, left = before(arcs, capacity, flow, a, v)
                    if left == 0 and keep == depth:
                        keep = d
                        u = v
                    v = w
                depth = keep
                if value >= wanted:
                    return value
                continue
            moved = False
            while place[u] < first[u + 1]:
                a = incident[place[u]]
                v, left = before(arcs, capacity, flow, a, u)
                if left > 0 and level[v] == level[u] - 1:
                    path[depth] = a
                    depth += 1
                    u = v
                    moved = True
                    break
                place[u] += 1
            if not moved:
                if depth == 0:
                    break
                depth -= 1
                a = path[depth]
                u = heads[a] if tails[a] == u else tails[a]
                place[u] += 1
    return value


@compiled
def unreached(arcs: Arcs, capacity: Ints, root: int, demand: int, marks: Bools) -> int:
    """Return the first node that a flow of `demand` from the root does not reach, else -1.

    A node that is reached joins the source: every set of nodes with it is known to be entered by
    `demand`. Most nodes then need no more than the arcs from there.

    Parameters
    ----------
    marks : ndarray of bool, shape (2, nodes)
        Room, all False.
    """
    n = len(arcs[2]) - 1
    source, reached = marks[0], marks[1]
    source[root] = True
    for v in range(n):
        if v != root and flow_into(arcs, capacity, source, v, demand, reached) < demand:
            return v
        source[v] = True
    return -1


@compiled
def widest_tree(
    arcs: Arcs, capacity: Ints, root: int, once: bool, tree: Ints, inside: Bools
) -> int:
    """Set `tree` to the arcs of a widest arborescence; return its width, 0 if none spans.

    If `once`, the widest arc out of the root is taken, and no other.
    """
    tails, heads, first, incident = arcs
    n = len(first) - 1
    best = first.copy()
    best[:] = -1
    inside[:] = False
    u, width = root, 2**62
    for size in range(n):
        inside[u] = True
        if size:
            tree[size - 1] = best[u]
            width = min(width, capacity[best[u]])
            if size == 1 and once:
                best[:] = -1
        for k in range(first[u], first[u + 1]):
            a = incident[k]
            v = heads[a]
            if tails[a] != u or capacity[a] == 0 or inside[v]:
                continue
            if best[v] < 0 or capacity[a] > capacity[best[v]]:
                best[v] = a
        u = -1
        for v in range(n):
            if best[v] < 0 or inside[v]:
                continue
            if u < 0 or capacity[best[v]] > capacity[best[u]]:
                u = v
        if u < 0:
            return width if size == n - 1 else 0
    return width


@compiled
def peel_widest(
    arcs: Arcs,
    capacity: Ints,
    root: int,
    once: bool,
    demand: int,
    trees: npt.NDArray[np.int32],
    rates: Ints,
    tree: Ints,
    inside: Bools,
) -> int:
    """Take off widest arborescences one after the other, at their width; return how many.

    Parameters
    ----------
    capacity : ndarray, shape (arcs,)
        Reduced by the trees.
    demand : int
        Total rate at which to end.
    trees, rates : ndarrays, shapes (most, nodes - 1) and (most,)
        Set to the trees and their rates.
    tree, inside : ndarrays, shapes (nodes - 1,) and (nodes,)
        Room.
    """
    for i in range(len(trees)):
        rate = min(demand, widest_tree(arcs, capacity, root, once, tree, inside))
        if rate == 0:
            return i
        for k in range(len(tree)):
            trees[i, k] = tree[k]
            capacity[tree[k]] -= rate
        rates[i] = rate
        demand -= rate
    return len(trees)


@compiled
def most_over(arcs: Arcs, most_of: Ints, limits: Limited, known: int, a: int) -> int:
    """Return the most that a tree of `grow_exactly` can have with one more arc, for known sets."""
    u, v = arcs[0][a], arcs[1][a]
    sets, excess, entered = limits
    most: int = most_of[a]
    for i in range(known):
        if entered[i] and sets[i, v] and not sets[i, u]:
            most = min(most, excess[i] // entered[i])
    return most


@compiled
def wider(capacity: Ints, a: int, b: int) -> bool:
    """Return True if arc a is taken before arc b, of which -1 is none."""
    if b < 0:
        return True
    one, other = int(capacity[a]), int(capacity[b])
    return one > other or (one == other and a < b)


@compiled
def widest_into(
    arcs: Arcs,
    capacity: Ints,
    most_of: Ints,
    usable: Bools,
    limits: Limited,
    known: int,
    rate: int,
    v: int,
) -> int:
    """Return the widest arc into v that allows the rate, from nodes that are usable; -1 if none."""
    tails, heads, first, incident = arcs
    best = -1
    for k in range(first[v], first[v + 1]):
        a = incident[k]
        if heads[a] != v or not usable[tails[a]] or not wider(capacity, a, best):
            continue
        if most_over(arcs, most_of, limits, known, a) >= rate:
            best = a
    return best


@compiled
def limit_by(
    arcs: Arcs,
    capacity: Ints,
    demand: int,
    reached: Bools,
    tree: Ints,
    size: int,
    limits: Limited,
    i: int,
) -> None:
    """Let row i of the sets be the nodes not reached, which limit the rate of a tree."""
    tails, heads = arcs[0], arcs[1]
    sets, excess, entered = limits
    for w in range(len(reached)):
        sets[i, w] = not reached[w]
    excess[i], entered[i] = -demand, 0
    for a in range(len(capacity)):
        if sets[i, heads[a]] and not sets[i, tails[a]]:
            excess[i] += capacity[a]
    for k in range(size):
        if sets[i, heads[tree[k]]] and not sets[i, tails[tree[k]]]:
            entered[i] += 1


@compiled
def grow_exactly(
    arcs: Arcs,
    capacity: Ints,
    root: int,
    once: bool,
    demand: int,
    rate: int,
    tree: Ints,
    limits: Limited,
    marks: Bools,
) -> int:
    r"""Set `tree` to an arborescence that leaves a packing of the rest; return its rate.

    Parameters
    ----------
    capacity : ndarray, shape (arcs,)
        From the root `demand` reaches every node. Not changed.
    rate : int
        Most that is wanted, from 1 to `demand`.
    limits : (ndarray of bool, ndarray, ndarray), shapes (most, nodes) and (most,)
        Room for sets of nodes that limit the rate.
    marks : ndarray of bool, shape (4, nodes)
        Room, all False.

    Notes
    -----
    With the rate taken off the arcs of the tree so far, every set of nodes without the root is
    entered by `demand` less the rate, or more. The arc (u, v) keeps that if and only if `demand`
    reaches v from the root and u together. Else the set Q on the sink side limits a tree that
    enters Q once more than this one to the rate
    :math:`(c(\delta^-(Q)) - d) / |T \cap \delta^-(Q)|`. The rate is lowered only where no arc is
    left at the present one; for the rate 1 there is one (Lovász 1976).

    The widest arc is tried first. It is kept for every node outside: sets only limit more as the
    tree grows, so an arc is looked for again where the one that is kept has become too narrow.
    """
    tails, heads, first, incident = arcs
    n = len(first) - 1
    left = capacity.copy()
    inside, usable, source, reached = marks[0], marks[1], marks[2], marks[3]
    inside[root] = usable[root] = source[root] = True
    sets, excess, entered = limits
    room = len(sets)
    # What an arc allows at most: its capacity, and less once a set has refused it. The set may be
    # forgotten, but not this, or two arcs that are refused in turn would be tried for ever.
    most_of = capacity.copy()
    unknown = -2
    widest = first.copy()
    widest[:] = unknown
    known, size = 0, 0
    while size < n - 1:
        # 1. The widest arc that allows the rate.
        best = -1
        for v in range(n):
            if inside[v]:
                continue
            a = widest[v]
            narrow = a >= 0 and most_over(arcs, most_of, limits, known, a) < rate
            if a == unknown or narrow:
                a = widest_into(arcs, capacity, most_of, usable, limits, known, rate, v)
                widest[v] = a
            if a >= 0 and wider(capacity, a, best):
                best = a
        # 2. If there is none, the rate falls to the most that an arc allows.
        if best < 0:
            rate = 0
            for a in range(len(capacity)):
                if usable[tails[a]] and not inside[heads[a]]:
                    rate = max(rate, most_over(arcs, most_of, limits, known, a))
            if rate == 0:
                return 0
            put(left, capacity)
            for k in range(size):
                left[tree[k]] -= rate
            widest[:] = unknown
            continue
        # 3. The arc joins the tree if enough still flows to its head.
        u, v = tails[best], heads[best]
        source[u] = True
        enough = flow_into(arcs, left, source, v, demand, reached) >= demand
        source[u] = u == root
        if not enough:
            i = known
            if known == room:  # forget the first, and what it has limited
                i = 0
                widest[:] = unknown
            else:
                known += 1
            limit_by(arcs, capacity, demand, reached, tree, size, limits, i)
            most_of[best] = min(most_of[best], excess[i] // entered[i])
            continue
        left[best] -= rate
        tree[size] = best
        size += 1
        inside[v] = usable[v] = True
        for i in range(known):
            if sets[i, v] and not sets[i, u]:
                entered[i] += 1
        if size == 1 and once:  # no other arc of the root
            usable[root] = False
            widest[:] = unknown
        # 4. Arcs of the new node may be wider than those that are kept.
        for k in range(first[v], first[v + 1]):
            a = incident[k]
            w = heads[a]
            if tails[a] != v or inside[w] or widest[w] == unknown:
                continue
            allowed = most_over(arcs, most_of, limits, known, a) >= rate
            if allowed and wider(capacity, a, widest[w]):
                widest[w] = a
    return rate
