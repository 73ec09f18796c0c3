r"""Annealing of nested blocks towards a target makespan.

The energy of a state (`blocks.py`) is the sum over GPUs of the load above the target M, with a
charge for each GPU above it; a state of energy 0 is a schedule that ends by M. Without a charge
most states of little energy miss the target by a single slot on one large gang, and no small move
mends that. Moves: a job to any block of its size (0.1), two jobs of one size and mostly of similar
durations change places (0.3), two GPUs of a server change places on the late line (0.4), a job
against all or about half of what lies in another block of its size (0.13), and the whole contents
of two blocks (0.07). A move that costs e is accepted with probability exp(-e / (T G^x)), with G the
size of the blocks moved. (reconstructed)

Jobs are kept in lists by block, so a move takes time in the size of its blocks, however many jobs
there are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .block_loops import (
    MASK,
    Terms,
    anneal,
)
from .blocks import (
    Assignment,
    Blocks,
    place_loads,
)


@dataclass
class Annealing:
    """A run of annealing towards a target makespan, made in steps.

    Parameters
    ----------
    blocks : Blocks
    start : Assignment
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
    charge : int, default 0
        What a GPU above the target costs besides its excess, in slots.

    Attributes
    ----------
    made : int
        Moves made so far.
    best : Assignment
        The state of least energy met so far.
    least : int or None
        Its energy; None before the first step.
    """

    blocks: Blocks
    start: Assignment
    target: int
    seed: int
    moves: int
    hot: float
    cold: float
    exponent: float
    charge: int = 0

    def __post_init__(self) -> None:
        levels = [int(g).bit_length() - 1 for g in self.blocks.gangs]
        counts = [len(self.blocks.server) >> k for k in range(max(levels) + 1)]  # of both lines
        # Jobs by size and then duration: those of 2^k GPUs are order[runs[k]:runs[k + 1]].
        order = np.lexsort((self.blocks.slots.min(axis=1), self.blocks.gangs))
        runs = np.searchsorted(np.sort(levels), np.arange(len(counts) + 1))
        sizes = np.diff(runs).tolist()
        self._terms = Terms(
            gangs=self.blocks.gangs,
            slots=self.blocks.slots,
            server=self.blocks.server,
            gpus=self.blocks.gpus,
            levels=np.array(levels, dtype=np.int64),
            base=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            order=order,
            rank=np.argsort(order),
            runs=runs,
            bits=np.array([max(1, n.bit_length()) for n in sizes], dtype=np.int64),
            scale=np.array([float(2**k) ** self.exponent for k in range(len(counts))]),
            target=int(self.target),
            charge=int(self.charge),
        )
        self._state = int(self.seed) & MASK
        self._current = self.start.copy()
        self.made = 0
        self.best = self.start
        self.least: int | None = None

    @property
    def over(self) -> bool:
        """True if all moves are made, or the target is reached."""
        return self.made >= self.moves or self.least == 0

    def step(self, moves: int) -> None:
        """Make the next moves of the run, at most as many as it has left."""
        begin, end = self.made, min(self.moves, self.made + moves)
        terms, state = self._terms, self._current
        first, mate, least, self._state = anneal(
            terms,
            state.first,
            state.mate,
            place_loads(terms.gangs, terms.slots, terms.server, state.first),
            np.full(terms.base[-1], -1),
            self._state,
            begin,
            end,
            float(self.hot),
            math.log(self.cold / self.hot) / self.moves,
        )
        self.made = end
        if self.least is None or least < self.least:
            self.best, self.least = Assignment(first, mate), int(least)
