"""Loops of the check of an elimination, in 64-bit whole numbers.

They belong to the check and to nothing else. A test holds them against plain Python.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.compiled import compiled

#: An odd number that scatters codes over a table. By definition.
SCATTER = 0x1E3779B97F4A7C15
#: Stands for a free place of a table; codes are not negative. By definition.
FREE = -1


@compiled
def expand(
    codes: Ints,
    costs: Ints,
    parts: int,
    part_mask: int,
    own_shift: int,
    to_shift: Ints,
    to_weight: Ints,
    group_first: Ints,
    group_own: Ints,
    mate_shift: Ints,
    mate_weight: Ints,
    load_shift: Ints,
    load_bits: Ints,
    load_cap: Ints,
    load_counts: Ints,
    kept_mask: int,
    at_least: int,
    keys: Ints,
    values: Ints,
    most: int,
) -> int:
    """Give one node each part in every state; write the cheapest of alike states into a table.

    Parameters
    ----------
    codes, costs : array of int, shape (states,)
        Each code holds the loads of the parts and the parts of the frontier.
    parts, part_mask, own_shift : int
        Number of parts, the bits of one, and where the node's own goes.
    to_shift, to_weight : array of int
        The node's neighbours in the frontier: where their parts are, and the weights.
    group_first, group_own, mate_shift, mate_weight : array of int
        For each neighbour that takes no part: its weight to the node, and the nodes of the frontier
        that share it with their weights, from `group_first[g]` to `group_first[g + 1]`.
    load_shift, load_bits, load_cap, load_counts : array of int
        For each kind of load, the last of all nodes: where part 0 is, bits, cap, whether the node
        counts.
    kept_mask : int
        What is kept of a code.
    at_least : int
        States that cost as much are left out.
    keys, values : array of int, a power of two
        The table, its keys `FREE`.
    most : int
        States that the table may hold.

    Returns
    -------
    int
        How many states there are; -1 if they are too many.
    """
    size, found, kinds = len(keys), 0, len(load_shift)
    added = np.zeros(parts, dtype=np.int64)
    pull = np.zeros(parts, dtype=np.int64)
    one = np.int64(1)
    for s in range(len(codes)):
        code = codes[s]
        # What each part of the node adds to the cost.
        added[:] = 0
        for e in range(len(to_shift)):
            there = (code >> to_shift[e]) & part_mask
            for i in range(parts):
                if i != there:
                    added[i] += to_weight[e]
        for g in range(len(group_own)):
            # A node that takes no part goes where most of its weight lies.
            pull[:] = 0
            for e in range(group_first[g], group_first[g + 1]):
                pull[(code >> mate_shift[e]) & part_mask] += mate_weight[e]
            most_pull = pull[0]
            for i in range(1, parts):
                most_pull = max(most_pull, pull[i])
            for i in range(parts):
                added[i] += group_own[g] - (max(most_pull, pull[i] + group_own[g]) - most_pull)
        for i in range(parts):
            if i > 0:  # parts are numbered as they are opened
                at = load_shift[kinds - 1] + (i - 1) * load_bits[kinds - 1]
                if (code >> at) & ((one << load_bits[kinds - 1]) - 1) == 0:
                    break
            total = costs[s] + added[i]
            if total >= at_least:
                continue
            new, fits = code, True
            for kind in range(kinds):
                if load_counts[kind]:
                    at = load_shift[kind] + i * load_bits[kind]
                    fits &= (code >> at) & ((one << load_bits[kind]) - 1) < load_cap[kind]
                    new += one << at
            if not fits:
                continue
            new = (new | (np.int64(i) << own_shift)) & kept_mask
            place = ((new * SCATTER) >> 17) & (size - 1)
            while keys[place] != FREE and keys[place] != new:
                place = (place + 1) & (size - 1)
            if keys[place] == FREE:
                if found == most:
                    return -1
                keys[place], values[place] = new, total
                found += 1
            elif total < values[place]:
                values[place] = total
    return found


@compiled
def cheapest_of_two(
    pair_first: Ints,
    pair_to: Ints,
    pair_weight: Ints,
    ray_first: Ints,
    ray_centre: Ints,
    ray_weight: Ints,
    centres: int,
    load_cap: int,
    node_cap: int,
    at_least: int,
    most: int,
) -> int:
    """Return the least cost of two parts, the node cap charged; at most `at_least`, -1 if too many.

    Node d has pairs to earlier nodes from `pair_first[d]` on, and rays to nodes that take no part
    (centres) from `ray_first[d]` on. All partitions that cost less than the best so far are looked
    at, depth first. In the end as many centres leave each part as it has too many, those that lose
    least by it.
    """
    nodes = len(pair_first) - 1
    choice = np.full(nodes, -1, dtype=np.int64)
    cost = np.zeros(nodes + 1, dtype=np.int64)
    pull = np.zeros((2, centres), dtype=np.int64)
    held = np.zeros(2, dtype=np.int64)
    losses = np.zeros(centres, dtype=np.int64)
    best, seen, d = at_least, 0, 0
    while d >= 0:
        before = choice[d]
        if before >= 0:  # take it back
            held[before] -= 1
            for e in range(ray_first[d], ray_first[d + 1]):
                pull[before, ray_centre[e]] -= ray_weight[e]
        i = before + 1
        if i == 2 or (d == 0 and i == 1):  # the first node is in the first part
            choice[d] = -1
            d -= 1
            continue
        choice[d] = i
        held[i] += 1
        total = cost[d]
        for e in range(pair_first[d], pair_first[d + 1]):
            if choice[pair_to[e]] != i:
                total += pair_weight[e]
        for e in range(ray_first[d], ray_first[d + 1]):
            c = ray_centre[e]
            total -= min(pull[0, c], pull[1, c])
            pull[i, c] += ray_weight[e]
            total += min(pull[0, c], pull[1, c])
        cost[d + 1] = total
        if held[i] > load_cap or total >= best:
            continue
        if d + 1 < nodes:
            d += 1
            continue
        seen += 1
        if seen > most:
            return -1
        for side in range(2):
            count = 0
            for c in range(centres):
                loss = pull[side, c] - pull[1 - side, c]
                if loss > 0:
                    losses[count] = loss
                    count += 1
            over = min(count + held[side] - node_cap, count)
            for e in range(over):
                least = e
                for c in range(e + 1, count):
                    if losses[c] < losses[least]:
                        least = c
                losses[e], losses[least] = losses[least], losses[e]
                total += losses[e]
        best = min(best, total)
    return best
