r"""GPUs as bins: what a GPU can run within M slots, and prices that refute M.

A schedule gives every job fixed GPUs, so a GPU is a bin of length M, and job j is G_j items in G_j
different bins, each as long as the job runs. On a server of capacity c the job runs for at least

.. math::
    l_j(c) = \min\{d^1_j, d^2_j\} \text{ if } c \ge G_j, \qquad l_j(c) = d^2_j \text{ else},

with d^1_j its duration on one server and d^2_j = min_{r >= 2} d_j(r, 1). With N_c GPUs on servers
of capacity c, non-negative prices pi refute a makespan of M if

.. math::
    \sum_j G_j \pi_j > \sum_c N_c v_c(\pi), \qquad
    v_c(\pi) = \max\Big\{\sum_{j \in A} \pi_j : \sum_{j \in A} l_j(c) \le M\Big\},

as a schedule within M earns at most v_c on a GPU of class c, and all schedules earn the left side.
The values v_c are 0/1 knapsacks; with integer prices dynamic programming computes them exactly. In
units of q slots, with floor(l_j(c) / q) and floor(M / q), more sets fit, so the test stays valid.
(reconstructed)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.memory import MOST_CELLS

from ...instance import SjfBcoInstance

#: Stands for a duration that no makespan allows. By definition.
NEVER = 2**61
#: Most sums of a check, packs of equal jobs of all classes times units: some ten seconds.
#: Tuned: `benchmarks/constants.py`.
MOST_CHECKED_SUMS = 10_000_000_000
#: Most units of a bin in a check, at which it takes about half a gigabyte.
MOST_CHECKED_UNITS = MOST_CELLS


@dataclass(frozen=True)
class GpuBins:
    """Jobs as items and GPUs as bins.

    Attributes
    ----------
    capacities : tuple of int
        The distinct server capacities c, ascending.
    bins : Ints
        N_c, the GPUs on servers of capacity c, shape (classes,).
    gangs : Ints
        G_j, shape (jobs,).
    slots : Ints
        l_j(c), `NEVER` where the job cannot run, shape (classes, jobs).
    """

    capacities: tuple[int, ...]
    bins: Ints
    gangs: Ints
    slots: Ints


def gpu_bins(instance: SjfBcoInstance) -> GpuBins:
    """Return jobs as items and GPUs as bins."""
    servers = Counter(instance.server_gpus)
    capacities = tuple(sorted(servers))
    rates = instance.rates
    local = _never_if_none(rates.local_slots)
    spread = _never_if_none(rates.spread_slots)
    gangs = np.array(rates.gpus, dtype=np.int64)
    bins = np.array([c * servers[c] for c in capacities], dtype=np.int64)
    fits = gangs <= np.array(capacities, dtype=np.int64)[:, None]
    slots = np.where(fits, np.minimum(local, spread), spread)
    return GpuBins(capacities, bins, gangs, slots)


def refutes(instance: SjfBcoInstance, makespan: int, prices: Sequence[int], unit: int = 1) -> bool:
    """Return True if the prices prove that no schedule ends by `makespan`.

    Parameters
    ----------
    instance : SjfBcoInstance
    makespan : int
        M in slots.
    prices : sequence of int
        pi_j >= 0, one for each job.
    unit : int, default 1
        q in slots.

    Raises
    ------
    ValueError
        If the sums do not fit 64-bit integers or are too many.
    """
    bins = gpu_bins(instance)
    length = makespan // unit
    earned = sum(g * p for g, p in zip(instance.rates.gpus, prices, strict=True))
    if max(earned, sum(prices)) > NEVER:
        raise ValueError("prices: the sum over all GPUs requested exceeds 2^61")
    worth = np.array(prices, dtype=np.int64)
    lengths = bins.slots // unit
    sums = (length + 1) * sum(len(_packs(of_class, worth, length)) for of_class in lengths)
    if sums > MOST_CHECKED_SUMS:
        raise ValueError(f"unit_slots: {unit} leaves {sums:,} sums to check, expected fewer")
    if length > MOST_CHECKED_UNITS:
        raise ValueError(
            f"unit_slots: {unit} leaves a GPU {length:,} units, expected at most "
            f"{MOST_CHECKED_UNITS:,}"
        )
    for count, of_class in zip(bins.bins.tolist(), lengths, strict=True):
        earned -= count * knapsack_value(of_class, worth, length)
    return earned > 0


def knapsack_value(lengths: Ints, worth: Ints, room: int) -> int:
    """Return the most that a set of items is worth whose lengths sum to at most `room`.

    Takes O(packs * room) additions of 64-bit integers, with fewer packs than items where items are
    equal. Items of length 0 are all taken.
    """
    best = np.zeros(room + 1, dtype=np.int64)
    for w, v in _packs(lengths, worth, room):
        best[w:] = np.maximum(best[w:], best[: room + 1 - w] + v)
    return int(best[room]) + int(worth[(lengths == 0) & (worth > 0)].sum())


def _packs(lengths: Ints, worth: Ints, room: int) -> list[tuple[int, int]]:
    """Return lengths and values of packs of 1, 2, 4, ... equal items, for any number of them."""
    useful = (worth > 0) & (lengths > 0) & (lengths <= room)
    packs = []
    kinds, counts = np.unique(
        np.stack([lengths[useful], worth[useful]]), axis=1, return_counts=True
    )
    for length, value, count in zip(*kinds.tolist(), counts.tolist(), strict=True):
        left, pack = min(count, room // length), 1
        while left and pack * length <= room:
            pack = min(pack, left)
            packs.append((pack * length, pack * value))
            left -= pack
            pack *= 2
    return packs


def _never_if_none(slots: Sequence[int | None]) -> Ints:
    return np.array([NEVER if d is None else d for d in slots], dtype=np.int64)
