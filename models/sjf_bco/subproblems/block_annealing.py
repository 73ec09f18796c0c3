r"""Annealing of nested blocks towards a target makespan.

The energy of a state (`blocks.py`) is the sum over GPUs of the load above the target M; a state of
energy 0 is a schedule that ends by M. Moves: a job to any block of its size (0.35), two jobs of one
size change places (0.35), a job against all or about half of what lies in another block of its size
(0.2), and the whole contents of two blocks (0.1). A move that costs e is accepted with probability
exp(-e / (T G^x)), with G the size of the blocks moved. (reconstructed)

Jobs are kept in lists by block, so a move takes time in the size of its blocks, however many jobs
there are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.compiled import compiled

from .blocks import NEVER, Blocks

#: Modulus less one, multiplier and increment of the 48-bit generator of POSIX's drand48.
_MASK, _FACTOR, _STEP = 2**48 - 1, 0x5DEECE66D, 0xB


@dataclass
class Annealing:
    """A run of annealing towards a target makespan, made in steps.

    Parameters
    ----------
    blocks : Blocks
    first : Ints
        The first GPU of each job's block, the start of the run.
    target : int
        M in slots.
    seed : int
        Equal seeds give equal answers, whatever the steps.
    moves : int
        Moves of the whole run; fewer are made if the energy reaches 0.
    hot, cold : float
        First and last temperature T in slots; it falls geometrically.
    exponent : float
        x.

    Attributes
    ----------
    made : int
        Moves made so far.
    best : Ints
        The state of least energy met so far.
    least : int or None
        Its energy; None before the first step.
    """

    blocks: Blocks
    first: Ints
    target: int
    seed: int
    moves: int
    hot: float
    cold: float
    exponent: float

    def __post_init__(self) -> None:
        levels = [int(g).bit_length() - 1 for g in self.blocks.gangs]
        counts = [len(self.blocks.server) >> k for k in range(max(levels) + 1)]
        self._levels = np.array(levels, dtype=np.int64)
        self._base = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._state = int(self.seed) & _MASK
        self._current = self.first.copy()
        self.made = 0
        self.best = self.first.copy()
        self.least: int | None = None

    @property
    def over(self) -> bool:
        """True if all moves are made, or the target is reached."""
        return self.made >= self.moves or self.least == 0

    def step(self, moves: int) -> None:
        """Make the next moves of the run, at most as many as it has left."""
        begin, end = self.made, min(self.moves, self.made + moves)
        best, least, self._state = _anneal(
            self.blocks.gangs,
            self.blocks.slots,
            self.blocks.server,
            self._levels,
            self._base,
            self._current,
            int(self.target),
            self._state,
            begin,
            end,
            float(self.hot),
            math.log(self.cold / self.hot) / self.moves,
            float(self.exponent),
        )
        self.made = end
        if self.least is None or least < self.least:
            self.best, self.least = best, int(least)


@compiled
def _anneal(
    gangs: Ints,
    slots: Ints,
    server: Ints,
    levels: Ints,
    base: Ints,
    first: Ints,
    target: int,
    state: int,
    begin: int,
    end: int,
    hot: float,
    cooling: float,
    exponent: float,
) -> tuple[Ints, int, int]:
    """Make moves `begin` to `end`, change `first`; return the best state, its energy, the seed."""
    jobs, gpus = len(gangs), len(server)
    load = np.zeros(gpus, np.int64)
    # Lists of the jobs of each block: head[base[k] + b] for block b of 2^k GPUs.
    head = np.full(base[-1], -1, np.int64)
    after = np.full(jobs, -1, np.int64)
    before = np.full(jobs, -1, np.int64)
    for j in range(jobs):
        a, g = first[j], gangs[j]
        load[a : a + g] += slots[j, server[a + g - 1] - server[a]]
        node = base[levels[j]] + (a >> levels[j])
        after[j] = head[node]
        if head[node] >= 0:
            before[head[node]] = j
        head[node] = j
    energy = 0
    for x in load:
        energy += max(0, int(x) - target)
    least, best = energy, first.copy()
    scale = np.empty(len(base))
    for k in range(len(base)):
        scale[k] = float(2**k) ** exponent
    mine = np.empty(jobs, np.int64)
    others = np.empty(jobs, np.int64)
    largest = gangs.max()
    saved = np.empty(2 * largest, np.int64)
    temperature = hot * np.exp(cooling * begin)
    for move in range(begin, end):
        if energy == 0:
            break
        if move & 1023 == 0:
            temperature = hot * np.exp(cooling * move)
        state = (state * _FACTOR + _STEP) & _MASK
        kind = state / 281474976710656.0
        state = (state * _FACTOR + _STEP) & _MASK
        j = ((state >> 17) * jobs) >> 31
        state = (state * _FACTOR + _STEP) & _MASK
        if kind < 0.35:
            k, g = levels[j], gangs[j]
            a, b = first[j], (((state >> 17) * (gpus >> k)) >> 31) << k
            if a == b:
                continue
            here = slots[j, server[a + g - 1] - server[a]]
            there = slots[j, server[b + g - 1] - server[b]]
            if there >= NEVER:
                continue
            cost = 0
            for q in range(g):
                x = load[a + q]
                cost += max(0, x - here - target) - max(0, x - target)
                x = load[b + q]
                cost += max(0, x + there - target) - max(0, x - target)
            if cost > 0:
                state = (state * _FACTOR + _STEP) & _MASK
                chance = np.exp(-cost / (temperature * scale[k]))
                if state / 281474976710656.0 >= chance:
                    continue
            for q in range(g):
                load[a + q] -= here
                load[b + q] += there
            _unlink(j, base[k] + (a >> k), head, after, before)
            _link(j, base[k] + (b >> k), head, after, before)
            first[j] = b
            energy += cost
        elif kind < 0.7:
            i = ((state >> 17) * jobs) >> 31
            k, g = levels[j], gangs[j]
            a, b = first[j], first[i]
            if gangs[i] != g or a == b:
                continue
            ra, rb = server[a + g - 1] - server[a], server[b + g - 1] - server[b]
            if slots[i, ra] >= NEVER or slots[j, rb] >= NEVER:
                continue
            at_a, at_b = slots[i, ra] - slots[j, ra], slots[j, rb] - slots[i, rb]
            cost = 0
            for q in range(g):
                x = load[a + q]
                cost += max(0, x + at_a - target) - max(0, x - target)
                x = load[b + q]
                cost += max(0, x + at_b - target) - max(0, x - target)
            if cost > 0:
                state = (state * _FACTOR + _STEP) & _MASK
                chance = np.exp(-cost / (temperature * scale[k]))
                if state / 281474976710656.0 >= chance:
                    continue
            for q in range(g):
                load[a + q] += at_a
                load[b + q] += at_b
            _unlink(j, base[k] + (a >> k), head, after, before)
            _unlink(i, base[k] + (b >> k), head, after, before)
            _link(j, base[k] + (b >> k), head, after, before)
            _link(i, base[k] + (a >> k), head, after, before)
            first[j], first[i] = b, a
            energy += cost
        else:
            i = ((state >> 17) * jobs) >> 31
            if gangs[i] > gangs[j]:
                i, j = j, i
            k, g = levels[j], gangs[j]
            a, b = first[j], (first[i] >> k) << k
            if a == b or b + g > gpus:
                continue
            whole = kind >= 0.9
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
                        state = (state * _FACTOR + _STEP) & _MASK
                        if state & (1 << 40):
                            continue
                    others[kept] = others[q]
                    kept += 1
                m = kept
            cost = 0
            for q in range(g):
                saved[q], saved[g + q] = load[a + q], load[b + q]
                cost -= max(0, load[a + q] - target) + max(0, load[b + q] - target)
            feasible = _shift(mine, n, b - a, gangs, slots, server, first, load)
            feasible &= _shift(others, m, a - b, gangs, slots, server, first, load)
            for q in range(g):
                cost += max(0, load[a + q] - target) + max(0, load[b + q] - target)
            accepted = feasible
            if feasible and cost > 0:
                state = (state * _FACTOR + _STEP) & _MASK
                chance = np.exp(-cost / (temperature * scale[k]))
                accepted = state / 281474976710656.0 < chance
            if not accepted:
                for q in range(g):
                    load[a + q], load[b + q] = saved[q], saved[g + q]
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
            energy += cost
        if energy < least:
            least = energy
            best[:] = first
    return best, least, state


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
    by: int,
    gangs: Ints,
    slots: Ints,
    server: Ints,
    first: Ints,
    load: Ints,
) -> bool:
    """Move the loads of jobs; return False if one of them never ends where it goes."""
    feasible = True
    for q in range(n):
        h = moved[q]
        g, a = gangs[h], first[h]
        b = a + by
        there = slots[h, server[b + g - 1] - server[b]]
        feasible &= there < NEVER
        here = slots[h, server[a + g - 1] - server[a]]
        for p in range(g):
            load[a + p] -= here
            load[b + p] += there
    return feasible
