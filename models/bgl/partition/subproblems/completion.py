"""Parts of the nodes that are not branched on, at the least cost.

They share no weight with each other, so each part of each has its own price: a transportation
problem, whose supply is the room that is left.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.optimize import linear_sum_assignment

from gadgetopt.numbers.arrays import Ints

from ..instance import BglPartitionInstance

#: Entries of a transportation problem that is solved exactly; larger ones greedily.
#: Tuned: `benchmarks/constants.py`.
MOST_ENTRIES = 4 * 10**6


def complete(instance: BglPartitionInstance, part_of: Mapping[int, int]) -> Ints | None:
    """Return the parts of all nodes, those given kept; None if the rest does not fit.

    Parameters
    ----------
    instance : BglPartitionInstance
    part_of : mapping
        The parts of some nodes. Training nodes that are missing have no weight, or are few.
    """
    k, n = instance.used_parts, instance.num_nodes
    part = np.full(n, -1, dtype=np.int64)
    for v, i in part_of.items():
        part[v] = i
    trained = np.zeros(n, dtype=bool)
    trained[list(instance.train_nodes)] = True
    room = instance.node_cap - np.bincount(part[part >= 0], minlength=k)
    train_room = instance.train_cap - np.bincount(part[(part >= 0) & trained], minlength=k)
    if (room < 0).any() or (train_room < 0).any():
        return None
    for v in np.flatnonzero(trained & (part < 0)).tolist():
        open_room = np.where(train_room > 0, room, 0)
        i = int(np.argmax(open_room))
        if open_room[i] <= 0:
            return None
        part[v] = i
        room[i] -= 1
        train_room[i] -= 1
    _place(part, _pull(instance, part), room)
    return part


def _pull(instance: BglPartitionInstance, part: Ints) -> Ints:
    """Return the weight of every node to every part, shape (nodes, parts)."""
    weights = instance.pair_weights
    pull = np.zeros((instance.num_nodes, instance.used_parts), dtype=np.int64)
    for a, b in ((weights.first, weights.second), (weights.second, weights.first)):
        known = part[b] >= 0
        np.add.at(pull, (a[known], part[b[known]]), weights.scaled[known])
    return pull


def _place(part: Ints, pull: Ints, room: Ints) -> None:
    """Give the nodes without a part one each, within the rooms, for the largest total pull."""
    rest = np.flatnonzero(part < 0)
    pulled = rest[pull[rest].any(axis=1)]
    best = np.argmax(pull[pulled], axis=1)
    if (np.bincount(best, minlength=len(room)) <= room).all():
        part[pulled] = best
    else:
        slots = np.repeat(np.arange(len(room)), np.minimum(room, len(pulled)))
        if len(pulled) * len(slots) <= MOST_ENTRIES and len(pulled) <= len(slots):
            rows, columns = linear_sum_assignment(pull[pulled][:, slots], maximize=True)
            part[pulled[rows]] = slots[columns]
        else:
            _place_greedily(part, pull, room, pulled)
    room = room - np.bincount(part[rest][part[rest] >= 0], minlength=len(room))
    last = np.flatnonzero(part < 0)
    part[last] = _evenly(room, len(last), np.bincount(part[part >= 0], minlength=len(room)))


def _place_greedily(part: Ints, pull: Ints, room: Ints, pulled: Ints) -> None:
    left = room.copy()
    most = pull[pulled].max(axis=1)
    for v in pulled[np.argsort(-most, kind="stable")].tolist():
        choice = np.where(left > 0, pull[v], -1)
        i = int(np.argmax(choice))
        part[v] = i
        left[i] -= 1


def _evenly(room: Ints, count: int, load: Ints) -> Ints:
    """Return parts for nodes without weight, the emptiest part first."""
    total = load.sum() + count
    level = -(-total // len(room))
    first = np.minimum(room, np.maximum(0, level - load))
    parts = np.concatenate(
        [np.repeat(np.arange(len(room)), first), np.repeat(np.arange(len(room)), room - first)]
    )
    return parts[:count]
