"""Repair of loads: nodes leave parts that hold too many, those first that lose the least."""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats, Ints


def balanced(
    part: Ints, trained: Bools, pull: Ints | Floats, node_cap: int, train_cap: int
) -> Ints:
    """Return a partition within the caps: training nodes are moved first, then any.

    Parameters
    ----------
    part : ndarray of int, shape (nodes,)
    trained : ndarray of bool, shape (nodes,)
    pull : ndarray, shape (nodes, parts)
        What a node gains by being in a part.
    node_cap, train_cap : int

    Raises
    ------
    ValueError
        If the repair gets stuck.
    """
    part = part.copy()
    k = pull.shape[1]
    nodes = np.flatnonzero(trained)
    room = train_cap - np.bincount(part[nodes], minlength=k)
    _move(part, nodes, pull, room)
    load = np.bincount(part, minlength=k)
    _move(part, np.flatnonzero(~trained), pull, node_cap - load)
    load = np.bincount(part, minlength=k)
    if (load > node_cap).any():  # only training nodes are left there
        train_room = train_cap - np.bincount(part[nodes], minlength=k)
        _move(part, nodes, pull, node_cap - load, train_room)
    if (np.bincount(part, minlength=k) > node_cap).any():
        raise ValueError("the loads could not be repaired")
    return part


def _move(
    part: Ints, nodes: Ints, pull: Ints | Floats, room: Ints, other_room: Ints | None = None
) -> None:
    """Move nodes from parts of negative room to parts of positive room; both change in place."""
    for i in np.flatnonzero(room < 0).tolist():
        here = nodes[part[nodes] == i]
        open_parts = room > 0 if other_room is None else (room > 0) & (other_room > 0)
        if not len(here) or not open_parts.any():
            continue
        gain = np.where(open_parts, pull[here], -1).max(axis=1) - pull[here, i]
        for v in here[np.argsort(-gain, kind="stable")][: -int(room[i])].tolist():
            open_parts = room > 0 if other_room is None else (room > 0) & (other_room > 0)
            if not open_parts.any():
                break
            j = int(np.argmax(np.where(open_parts, pull[v] * len(room) + (room > 0), -1)))
            part[v] = j
            room[j] -= 1
            room[i] += 1
            if other_room is not None:
                other_room[j] -= 1
                other_room[i] += 1
