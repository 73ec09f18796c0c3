r"""Packing of spanning arborescences, tree by tree, in integers of 64 bits.

By Edmonds' theorem capacities c hold out-arborescences of total rate d from a root if and only if a
flow of d reaches every node from there. Trees are taken off one after the other such that what is
left keeps this, with d lowered by their rates:

- several *widest* trees at once, each at its width, while a flow of the rest still reaches every
  node: as long as no set of nodes is tight this is nearly always so;
- where one widest tree is too much, a tree is grown arc by arc, each confirmed by a maximum flow,
  and its rate is lowered only where no arc is left. For rate 1 there always is one (Lovász 1976).

Rates stay whole numbers, so the packing is exact; and every widest tree uses up an arc, so there
are far fewer trees than arcs (with multiplicities: Gabow and Manu, Math. Programming 82, 1998).

Several roots with a rate each are one root before them, from which every tree takes one arc: their
rates are no more than the demand, so that a tree with two of these arcs would leave too little.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gadgetopt.numbers.arrays import Bools, Ints
from gadgetopt.search.clock import Clock

from .flows import WORD_BITS, BigInts
from .peeling_loops import Arcs, grow_exactly, peel_widest, unreached

#: Most widest trees that are taken off at once. Tuned: `benchmarks/constants.py`.
MOST_AT_ONCE = 64
#: Sets of nodes that one tree's growth remembers. Tuned: `benchmarks/constants.py`.
MOST_SETS = 64
#: Arcs without capacity are dropped once this part of all have none.
#: Tuned: `benchmarks/constants.py`.
DROPPED = 0.2


@dataclass
class Peeling:
    """Arborescences with rates.

    Attributes
    ----------
    trees : list of ndarray, shape (nodes - 1,)
        Arcs of each tree, in the order it grew: an arc's tail is the root or an earlier arc's head.
    rates : list of int
    complete : bool
        False if time ran out: then the trees fit, but their rates add up to less than the demand.
    """

    trees: list[Ints] = field(default_factory=list)
    rates: list[int] = field(default_factory=list)
    complete: bool = True


def fits_words(capacity: BigInts) -> bool:
    """Return True if sums of the capacities are safe in 64-bit integers."""
    return int(np.asarray(capacity, dtype=object).sum()).bit_length() <= WORD_BITS


def peel_arborescences(
    num_nodes: int,
    tails: Ints,
    heads: Ints,
    capacity: Ints,
    root: int,
    demand: int,
    clock: Clock | None = None,
) -> Peeling:
    """Return spanning out-arborescences from `root` of total rate `demand` within the capacities.

    Parameters
    ----------
    num_nodes : int
        At least 2.
    tails, heads : ndarray of int64, shape (arcs,)
        Parallel arcs are arcs of their own; arcs into the root are not used.
    capacity : ndarray of int64, shape (arcs,)
        At least 0, of a sum that passes `fits_words`.
    root : int
    demand : int
        At least 0.
    clock : Clock, optional
        Of the run.

    Raises
    ------
    ValueError
        If a flow of `demand` does not reach every node from the root.
    """
    return _peel(num_nodes, tails, heads, capacity, root, demand, clock, once=False)


def peel_rooted_arborescences(
    num_nodes: int,
    tails: Ints,
    heads: Ints,
    capacity: Ints,
    root_rates: Ints,
    clock: Clock | None = None,
) -> tuple[list[int], Peeling]:
    """Return the root of every tree, and spanning trees with these total rates at the roots.

    Parameters
    ----------
    num_nodes : int
        At least 2.
    tails, heads, capacity : ndarray of int64, shape (arcs,)
        As for `peel_arborescences`; all capacities and rates have a sum that passes `fits_words`.
    root_rates : ndarray of int64, shape (num_nodes,)
        At least 0, and not all of them 0.
    clock : Clock, optional
        Of the run.

    Raises
    ------
    ValueError
        If a node cannot be reached by as much as the roots send.
    """
    roots = np.flatnonzero(root_rates)
    found = _peel(
        num_nodes + 1,
        np.concatenate((tails, np.full(len(roots), num_nodes))),
        np.concatenate((heads, roots)),
        np.concatenate((capacity, root_rates[roots])),
        num_nodes,
        int(root_rates.sum()),
        clock,
        once=True,
    )
    begins = [int(roots[tree[0] - len(tails)]) for tree in found.trees]
    found.trees = [tree[1:] for tree in found.trees]
    return begins, found


def _peel(
    num_nodes: int,
    tails: Ints,
    heads: Ints,
    capacity: Ints,
    root: int,
    demand: int,
    clock: Clock | None,
    *,
    once: bool,
) -> Peeling:
    """Peel trees from one root; if `once`, each with one of its arcs."""
    alive = np.flatnonzero((capacity > 0) & (heads != root) & (tails != heads))
    left = capacity[alive]
    arcs = _incidence(num_nodes, tails[alive], heads[alive])
    if (lost := unreached(arcs, left, root, demand, _marks(2, num_nodes))) >= 0:
        raise ValueError(f"capacity: a flow of less than {demand} reaches node {lost}")
    out = Peeling()
    together = MOST_AT_ONCE
    while demand:
        late = clock is not None and clock.expired
        trial = left.copy()
        most = len(alive) if late else together
        trees, rates = _widest(arcs, trial, root, once, demand, most)
        rest = demand - int(rates.sum())
        if late:  # what widest trees still hold, without a look at what they leave
            _take(out, alive, trees, rates)
            out.complete = rest == 0
            return out
        if len(rates) and unreached(arcs, trial, root, rest, _marks(2, num_nodes)) < 0:
            left, demand = trial, rest
            _take(out, alive, trees, rates)
            together = min(MOST_AT_ONCE, 2 * together)
        elif together > 1:
            together = max(1, together // 4)
            continue
        else:
            wanted = int(rates[0]) if len(rates) else demand
            tree = np.empty(num_nodes - 1, dtype=np.int64)
            none = np.zeros(MOST_SETS, dtype=np.int64)
            limits = (_marks(MOST_SETS, num_nodes), none, none.copy())
            marks = _marks(4, num_nodes)
            rate = grow_exactly(arcs, left, root, once, demand, wanted, tree, limits, marks)
            left[tree] -= rate
            demand -= rate
            _take(out, alive, tree[None], np.array([rate]))
            together = 2
        kept = left > 0
        if kept.sum() < (1 - DROPPED) * len(kept):
            alive, left = alive[kept], left[kept]
            arcs = _incidence(num_nodes, tails[alive], heads[alive])
    return out


def _widest(
    arcs: Arcs, left: Ints, root: int, once: bool, demand: int, most: int
) -> tuple[npt.NDArray[np.int32], Ints]:
    """Take widest trees off `left`; return them and their rates."""
    nodes = len(arcs[2]) - 1
    trees = np.empty((most, nodes - 1), dtype=np.int32)
    rates, tree = np.zeros(most, dtype=np.int64), np.zeros(nodes - 1, dtype=np.int64)
    inside = _marks(1, nodes)[0]
    found = peel_widest(arcs, left, root, once, demand, trees, rates, tree, inside)
    return trees[:found], rates[:found]


def _marks(rows: int, num_nodes: int) -> Bools:
    """Return rows of marks of nodes, all False."""
    return np.zeros((rows, num_nodes), dtype=np.bool_)


def _take(out: Peeling, alive: Ints, trees: npt.NDArray[Any], rates: Ints) -> None:
    out.trees += list(alive[trees])
    out.rates += rates.tolist()


def _incidence(num_nodes: int, tails: Ints, heads: Ints) -> Arcs:
    """Return the arcs with those at each node, leaving and entering."""
    ends = np.concatenate((tails, heads))
    first = np.zeros(num_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(ends, minlength=num_nodes), out=first[1:])
    incident = np.argsort(ends, kind="stable") % max(len(tails), 1)
    return tails, heads, first, incident
