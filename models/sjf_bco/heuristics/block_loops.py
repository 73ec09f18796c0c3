"""Compiled loops of the annealing of nested blocks; `block_annealing.py` describes the moves."""

from __future__ import annotations

import math
from typing import NamedTuple

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.compiled import compiled
from gadgetopt.numbers.loop_pieces import put

from .blocks import NEVER

#: Modulus less one, multiplier and increment of the 48-bit generator of POSIX's drand48.
#: By definition.
MASK, FACTOR, STEP = 2**48 - 1, 0x5DEECE66D, 0xB
#: A chance of e to the minus this is none: it is less than what the generator can draw.
#: By definition.
IMPOSSIBLE = 34.0


class Terms(NamedTuple):
    """What does not change during a run.

    Attributes
    ----------
    gangs, slots, server : Ints
        As in `Blocks`.
    gpus : int
    levels : Ints
        k of every job, which has 2^k GPUs.
    base : Ints
        Where the blocks of 2^k places begin in a list of all blocks, shape (sizes + 1,).
    order, rank, runs : Ints
        Jobs by size and then duration, their places there, and where a size begins.
    bits : Ints
        Of the number of jobs of a size.
    scale : Floats
        G^x of a size.
    target, charge : int
    """

    gangs: Ints
    slots: Ints
    server: Ints
    gpus: int
    levels: Ints
    base: Ints
    order: Ints
    rank: Ints
    runs: Ints
    bits: Ints
    scale: Floats
    target: int
    charge: int


@compiled
def anneal(
    terms: Terms,
    first: Ints,
    mate: Ints,
    load: Ints,
    head: Ints,
    state: int,
    begin: int,
    end: int,
    hot: float,
    cooling: float,
) -> tuple[Ints, Ints, int, int]:
    """Make moves `begin` to `end`; return the best state, its energy, the seed.

    Most moves are refused, so a move is priced from the loads of whole GPUs, which stand beside
    each other for the places of a block, and loads are written only when it is accepted.
    All moves stand here: in functions of their own they take up to twice as long.

    Parameters
    ----------
    load : Ints
        Of every place at first, changed.
    head : Ints
        Room for the first job of each of the blocks of `base`, all -1.
    """
    gangs, slots, server, gpus, levels, base, order, rank, runs, bits, scale, target, charge = terms
    jobs, length = len(gangs), len(server) // 2
    # Room of the right size; new arrays would take much longer to compile.
    after, before, mine, others = order.copy(), order.copy(), order.copy(), order.copy()
    total, more_a, more_b = load.copy(), load.copy(), load.copy()
    # Lists of the jobs of each block: head[base[k] + b] for block b of 2^k places.
    for j in range(jobs):
        _link(j, base[levels[j]] + (first[j] >> levels[j]), head, after, before)
    for p in range(len(server)):  # the load of the GPU of each place
        total[p] = load[p] + load[mate[p]]
    energy = 0
    for p in range(gpus):
        energy += _over(total[p], target, charge)
    least, best, best_mate = energy, first.copy(), mate.copy()
    temperature = hot * math.exp(cooling * begin)
    for move in range(begin, end):
        if energy == 0:
            break
        if move & 1023 == 0:
            temperature = hot * math.exp(cooling * move)
        state = (state * FACTOR + STEP) & MASK
        kind = state / 281474976710656.0
        state = (state * FACTOR + STEP) & MASK
        j = ((state >> 17) * jobs) >> 31
        state = (state * FACTOR + STEP) & MASK
        if kind < 0.4:
            k, g = levels[j], gangs[j]
            a = first[j]
            if kind < 0.1:
                i = -1
                count = gpus >> k
                b = ((state >> 17) * 2 * count) >> 31
                b = (b << k) if b < count else length + ((b - count) << k)
                if a == b:
                    continue
                at_a = -slots[j, server[a + g - 1] - server[a]]
                at_b = slots[j, server[b + g - 1] - server[b]]
                if at_b >= NEVER:
                    continue
            else:
                low = runs[k]
                # Any distance of rank, each power of two as likely as the next.
                away = ((state >> 17) * (runs[k + 1] - low)) >> 31
                state = (state * FACTOR + STEP) & MASK
                away = (away >> ((state >> 24) % bits[k])) + 1
                at = rank[j] + (away if state & (1 << 20) else -away)
                if at < low or at >= runs[k + 1]:
                    continue
                i = order[at]
                b = first[i]
                if a == b:
                    continue
                ra, rb = server[a + g - 1] - server[a], server[b + g - 1] - server[b]
                if slots[i, ra] >= NEVER or slots[j, rb] >= NEVER:
                    continue
                at_a, at_b = slots[i, ra] - slots[j, ra], slots[j, rb] - slots[i, rb]
            cost = _cost(total, a, g, at_a, target, charge)
            # Blocks that may have a GPU in common: the second is priced after the first.
            common = _common_server(a, b, g, server, length)
            if common:
                _raise(load, total, mate, a, g, at_a)
            cost += _cost(total, b, g, at_b, target, charge)
            if cost > 0:
                chance = cost / (temperature * scale[k])
                accepted = chance < IMPOSSIBLE
                if accepted:
                    state = (state * FACTOR + STEP) & MASK
                    accepted = state / 281474976710656.0 < math.exp(-chance)
                if not accepted:
                    if common:
                        _raise(load, total, mate, a, g, -at_a)
                    continue
            if not common:
                _raise(load, total, mate, a, g, at_a)
            _raise(load, total, mate, b, g, at_b)
            _unlink(j, base[k] + (a >> k), head, after, before)
            if i >= 0:
                _unlink(i, base[k] + (b >> k), head, after, before)
                _link(i, base[k] + (a >> k), head, after, before)
                first[i] = a
            _link(j, base[k] + (b >> k), head, after, before)
            first[j] = b
            energy += cost
        elif kind < 0.8:
            # Two GPUs of a server, of the same 32, change places on the late line.
            p = ((state >> 17) * gpus) >> 31
            low = p - (p & 31)
            state = (state * FACTOR + STEP) & MASK
            q = low + (((state >> 17) * 32) >> 31)
            if q == p or q >= gpus or server[q] != server[p]:
                continue
            p2, q2 = mate[p], mate[q]
            more = load[q2] - load[p2]
            if more == 0:
                continue
            x, y = total[p], total[q]
            u, v = x + more, y - more
            cost = _over(u, target, charge) + _over(v, target, charge)
            cost -= _over(x, target, charge) + _over(y, target, charge)
            if cost > 0:
                state = (state * FACTOR + STEP) & MASK
                if state / 281474976710656.0 >= math.exp(-cost / temperature):
                    continue
            mate[p], mate[q], mate[p2], mate[q2] = q2, p2, q, p
            total[p], total[q], total[q2], total[p2] = u, v, u, v
            energy += cost
        else:
            i = ((state >> 17) * jobs) >> 31
            if gangs[i] > gangs[j]:
                i, j = j, i
            k, g = levels[j], gangs[j]
            a, b = first[j], (first[i] >> k) << k
            if a == b or b % length + g > gpus or _common_server(a, b, g, server, length):
                continue
            whole = kind >= 0.93
            n = 0
            if whole:
                n = _contents(a, k, base, head, after, mine)
            else:
                mine[0], n = j, 1
            m = _contents(b, k, base, head, after, others)
            if not whole:
                kept = 0
                for q in range(m):  # jobs of the same size stay or go by chance
                    if gangs[others[q]] == g:
                        state = (state * FACTOR + STEP) & MASK
                        if state & (1 << 40):
                            continue
                    others[kept] = others[q]
                    kept += 1
                m = kept
            for p in range(g):
                more_a[p], more_b[p] = 0, 0
            ends = _shift(mine, n, a, b, gangs, slots, server, first, more_a, more_b)
            if not (ends and _shift(others, m, b, a, gangs, slots, server, first, more_b, more_a)):
                continue
            cost = 0
            for p in range(g):
                x, y = total[a + p], total[b + p]
                u, v = x + more_a[p], y + more_b[p]
                cost += _over(u, target, charge) + _over(v, target, charge)
                cost -= _over(x, target, charge) + _over(y, target, charge)
            if cost > 0:
                chance = cost / (temperature * scale[k])
                if chance >= IMPOSSIBLE:
                    continue
                state = (state * FACTOR + STEP) & MASK
                if state / 281474976710656.0 >= math.exp(-chance):
                    continue
            for q in range(n):
                h = mine[q]
                _unlink(h, base[levels[h]] + (first[h] >> levels[h]), head, after, before)
                first[h] += b - a
            for q in range(m):
                h = others[q]
                _unlink(h, base[levels[h]] + (first[h] >> levels[h]), head, after, before)
                first[h] += a - b
            for q in range(n):
                h = mine[q]
                _link(h, base[levels[h]] + (first[h] >> levels[h]), head, after, before)
            for q in range(m):
                h = others[q]
                _link(h, base[levels[h]] + (first[h] >> levels[h]), head, after, before)
            for p in range(g):
                _raise(load, total, mate, a + p, 1, more_a[p])
                _raise(load, total, mate, b + p, 1, more_b[p])
            energy += cost
        if energy < least:
            least = energy
            put(best, first)
            put(best_mate, mate)
    return best, best_mate, least, state


@compiled
def _over(load: int, target: int, charge: int) -> int:
    """Return what a GPU of this load adds to the energy."""
    return load - target + charge if load > target else 0


@compiled
def _cost(total: Ints, a: int, g: int, more: int, target: int, charge: int) -> int:
    """Return what more slots on the GPUs of a block add to the energy."""
    cost = 0
    for p in range(a, a + g):
        x = total[p]
        cost += _over(x + more, target, charge) - _over(x, target, charge)
    return cost


@compiled
def _raise(load: Ints, total: Ints, mate: Ints, a: int, g: int, more: int) -> None:
    """Add slots to the places of a block."""
    for p in range(a, a + g):
        load[p] += more
        total[p] += more
        total[mate[p]] += more


@compiled
def _common_server(a: int, b: int, g: int, server: Ints, length: int) -> bool:
    """Return True if blocks of different lines have a server in common."""
    if (a < length) == (b < length):
        return False
    return bool(server[a] <= server[b + g - 1] and server[b] <= server[a + g - 1])


@compiled
def _unlink(j: int, node: int, head: Ints, after: Ints, before: Ints) -> None:
    if before[j] >= 0:
        after[before[j]] = after[j]
    else:
        head[node] = after[j]
    if after[j] >= 0:
        before[after[j]] = before[j]


@compiled
def _link(j: int, node: int, head: Ints, after: Ints, before: Ints) -> None:
    after[j], before[j] = head[node], -1
    if head[node] >= 0:
        before[head[node]] = j
    head[node] = j


@compiled
def _contents(a: int, k: int, base: Ints, head: Ints, after: Ints, found: Ints) -> int:
    """List the jobs inside the block of 2^k GPUs from a on; return their number."""
    n = 0
    for level in range(k + 1):
        node = base[level] + (a >> level)
        for b in range(node, node + (1 << (k - level))):
            h = head[b]
            while h >= 0:
                found[n] = h
                n += 1
                h = after[h]
    return n


@compiled
def _shift(
    moved: Ints,
    n: int,
    a: int,
    b: int,
    gangs: Ints,
    slots: Ints,
    server: Ints,
    first: Ints,
    more_a: Ints,
    more_b: Ints,
) -> bool:
    """Add to the places of two blocks what it changes to move jobs from a's to b's.

    False if one never ends there.
    """
    for q in range(n):
        h = moved[q]
        g, at = gangs[h], first[h] - a
        there = slots[h, server[b + at + g - 1] - server[b + at]]
        if there >= NEVER:
            return False
        here = slots[h, server[a + at + g - 1] - server[a + at]]
        for p in range(at, at + g):
            more_a[p] -= here
            more_b[p] += there
    return True
