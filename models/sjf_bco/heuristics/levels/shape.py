r"""Classes of GPUs, gangs in powers of two, and the rooms that gangs leave.

GPUs on servers of capacity c are a class, in a row. A gang of G GPUs takes an aligned block of such
a row: it is inside a server if G <= c, and covers G/c servers that it has to itself if not, so that
its level is 1. It then runs for l_j(c) slots. Larger gangs of a block run before smaller ones, so
all GPUs of a block have the same room: the slots up to the target M that nothing has taken yet. A
state of a packing is how many GPUs of each class have which room. (reconstructed)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ...instance import SjfBcoInstance
from ..blocks import NEVER, blocks_of

#: A class and a room in slots.
Group = tuple[int, int]
#: GPUs of every group.
Rooms = Mapping[Group, float]


@dataclass(frozen=True)
class Shape:
    """Gangs and classes.

    Attributes
    ----------
    gangs : Ints
        G_j, shape (jobs,).
    capacities : tuple of int
        c of each class, descending.
    gpus : tuple of int
        GPUs of each class.
    slots : Ints
        l_j(c), `NEVER` where the gang has no place, shape (classes, jobs).
    """

    gangs: Ints
    capacities: tuple[int, ...]
    gpus: tuple[int, ...]
    slots: Ints

    def empty(self, target: int) -> dict[Group, float]:
        """Return the rooms before any gang is placed: `target` slots on all GPUs."""
        return {(c, target): float(n) for c, n in enumerate(self.gpus)}


def shape_of(instance: SjfBcoInstance) -> Shape:
    """Return classes and gangs of an instance.

    Raises
    ------
    ModelRefused
        If a gang or a capacity is not a power of two, or there are too many GPUs to list.
    """
    blocks = blocks_of(instance)
    servers = Counter(instance.server_gpus)
    capacities = tuple(sorted(servers, reverse=True))
    most = blocks.slots.shape[1]
    jobs = np.arange(len(blocks.gangs))
    slots = np.full((len(capacities), len(jobs)), NEVER, dtype=np.int64)
    for c, capacity in enumerate(capacities):
        spread = np.maximum(1, blocks.gangs // capacity)
        has = (spread <= most) & (blocks.gangs <= capacity * servers[capacity])
        slots[c, has] = blocks.slots[jobs[has], spread[has] - 1]
    return Shape(blocks.gangs, capacities, tuple(c * servers[c] for c in capacities), slots)
