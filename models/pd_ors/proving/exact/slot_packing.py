r"""Packing jobs of given modes and numbers of workers onto the machines of a slot.

Reconstructed. In a slot, job i either sits on one machine with n workers and all its servers (a
block), or has n workers and :math:`\lceil n / \gamma_i \rceil` servers wherever there is room
(units). That is vector bin packing with many equal items. `pack` tries, in this order, a count of
volume, a constructive heuristic, and CP-SAT, which decides it.

The constructive heuristic fills one machine after the other with the unit whose demand points most
along the free capacity of the machine, resources weighted by how scarce they are in the whole slot
(dot-product rule of vector bin packing); blocks come first, the largest first, each where it leaves
least room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.solvers.cpsat import solve_cp, value_of
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.result import Limits, Status

from ...subproblems.decoding import Counts
from ...terms import Terms


@dataclass(frozen=True, order=True)
class Item:
    """The workers and the mode of a job in a slot.

    Attributes
    ----------
    job : int
    inside : bool
        True if it is on one machine.
    workers : int
        n; there are as many servers as n workers need.
    """

    job: int
    inside: bool
    workers: int

    def covers(self, other: Item) -> bool:
        """Return True if the other item fits wherever this one does."""
        inside = self.inside or not other.inside
        return self.job == other.job and inside and self.workers >= other.workers


@dataclass(frozen=True)
class Packing:
    """Outcome of packing items.

    Attributes
    ----------
    fits : bool or None
        None if that is not known.
    counts : dict of job to Counts
        Workers and servers of every job by machine, if they fit.
    """

    fits: bool | None
    counts: dict[int, Counts]


UNKNOWN = Packing(None, {})
IMPOSSIBLE = Packing(False, {})


def pack(
    terms: Terms, items: Sequence[Item], limits: Limits, seed: int = 0, exact: bool = True
) -> Packing:
    """Pack the items onto the machines of a slot, or prove that they do not fit.

    Parameters
    ----------
    terms : Terms
    items : sequence of Item
        One a job at most, each with a worker.
    limits : Limits
        Of the exact search.
    seed : int
    exact : bool
        True if CP-SAT decides where the heuristic fails.
    """
    if not fits_by_volume(terms, items):
        return IMPOSSIBLE
    counts = fill_machines(terms, items)
    if counts is not None:
        return Packing(True, dict(counts))
    return pack_exactly(terms, items, limits, seed) if exact else UNKNOWN


def fits_by_volume(terms: Terms, items: Sequence[Item]) -> bool:
    """Return True if all machines together have room, and some machine for each block."""
    total = np.zeros(terms.capacity.shape[1], dtype=np.int64)
    for item in items:
        job = terms.jobs[item.job]
        most = int(job.most_internal.max()) if item.inside else job.most_external
        if item.workers > most:
            return False
        total += job.demand[item.workers]
    return bool((total <= terms.capacity.sum(axis=0)).all())


#: Workers and servers by job and machine.
Placed = dict[int, dict[int, tuple[int, int]]]


def place_blocks(terms: Terms, items: Sequence[Item]) -> tuple[Placed, Ints] | None:
    """Place the blocks among the items, the largest first, each where it leaves least room.

    Returns the placements, with an empty entry for other items, and the free capacity; None if
    a block finds no room.
    """
    room = terms.capacity.copy()
    placed: Placed = {item.job: {} for item in items}
    blocks = [item for item in items if item.inside]
    total = np.maximum(terms.capacity.sum(axis=0), 1)
    blocks.sort(key=lambda b: (-float((_demand(terms, b) / total).max()), b.job))
    for block in blocks:
        left = room - _demand(terms, block)
        fitting = np.flatnonzero((left >= 0).all(axis=1))
        if not fitting.size:
            return None
        h = int(fitting[np.argmin((left[fitting] / total).sum(axis=1))])
        room[h] = left[h]
        servers = int(terms.jobs[block.job].servers[block.workers])
        placed[block.job][h] = (block.workers, servers)
    return placed, room


def fill_machines(terms: Terms, items: Sequence[Item]) -> Placed | None:
    """Place blocks and then units by the heuristic; None if something is left over."""
    start = place_blocks(terms, items)
    if start is None:
        return None
    placed, room = start
    return placed if _place_units(terms, items, room, placed) else None


def _demand(terms: Terms, item: Item) -> Ints:
    return np.asarray(terms.jobs[item.job].demand[item.workers])


def _place_units(terms: Terms, items: Sequence[Item], room: Ints, placed: Placed) -> bool:
    spread = [item for item in items if not item.inside]
    jobs = [terms.jobs[item.job] for item in spread]
    if not spread:
        return True
    # Kinds in pairs: workers and servers of each job.
    demand = np.array([row for job in jobs for row in (job.alpha, job.beta)])
    asked = np.array(
        [[item.workers, job.servers[item.workers]] for item, job in zip(spread, jobs, strict=True)]
    ).ravel()
    filled = fill_with_units(demand, asked, room)
    if filled is None:
        return False
    for h, here in enumerate(filled):
        for item, (w, s) in zip(spread, here.reshape(-1, 2).tolist(), strict=True):
            if w or s:
                placed[item.job][h] = (w, s)
    return True


def fill_with_units(demand: Ints, asked: Ints, room: Ints) -> Ints | None:
    """Return units by machine and kind by the heuristic; None if something is left over.

    Parameters and shapes are those of `place_units`.
    """
    size = np.maximum(room.max(axis=0, initial=0), 1)
    left = asked.copy()
    out = np.zeros((len(room), len(asked)), dtype=np.int64)
    for h, here in enumerate(out):
        if not left.any():
            break
        space = room[h].copy()
        scarcity = (left @ demand) / np.maximum(room[h:].sum(axis=0), 1)
        pull = demand / size * scarcity / size
        while True:
            fitting = np.flatnonzero((left > 0) & (demand <= space).all(axis=1))
            if not fitting.size:
                break
            k = fitting[np.argmax(pull[fitting] @ space)]
            space -= demand[k]
            left[k] -= 1
            here[k] += 1
    return None if left.any() else out


def place_units(
    demand: Ints, asked: Ints, room: Ints, limits: Limits, seed: int = 0
) -> Ints | None:
    """Return units by machine and kind by CP-SAT, shape (machines, kinds); None if not found.

    Parameters
    ----------
    demand : array of int, shape (kinds, resources)
    asked : array of int, shape (kinds,)
    room : array of int, shape (machines, resources)
    limits : Limits
    seed : int
    """
    model = cp_model.CpModel()
    x = [[model.new_int_var(0, n, "") for n in asked.tolist()] for _ in range(len(room))]
    for k, n in enumerate(asked.tolist()):
        model.add(sum(row[k] for row in x) == n)
    for row, space in zip(x, room.tolist(), strict=True):
        for r, most in enumerate(space):
            each = demand[:, r].tolist()
            use = [d * x_k for d, x_k in zip(each, row, strict=True) if d]
            if use:
                model.add(sum(use) <= most)
    outcome = solve_cp(model, limits, seed)
    if outcome.values is None:
        return None
    return np.array([[value_of(outcome.values, x_k) for x_k in row] for row in x], dtype=np.int64)


def pack_exactly(terms: Terms, items: Sequence[Item], limits: Limits, seed: int = 0) -> Packing:
    """Decide by CP-SAT: workers and servers by machine, or one binary per machine for a block."""
    model = cp_model.CpModel()
    machines, resources = terms.capacity.shape
    use: list[list[list[Any]]] = [[[] for _ in range(resources)] for _ in range(machines)]

    def charge(variables: list[Any], demand: Ints) -> None:
        for h, x in enumerate(variables):
            for r in np.flatnonzero(demand).tolist():
                use[h][r].append(int(demand[r]) * x)

    columns: list[tuple[list[Any], list[Any]]] = []
    for item in items:
        job = terms.jobs[item.job]
        if item.inside:
            at = [model.new_bool_var("") for _ in range(machines)]
            model.add_exactly_one(at)
            charge(at, job.demand[item.workers])
            columns.append((at, at))
            continue
        kinds = (
            (item.workers, job.most_workers_on, job.alpha),
            (int(job.servers[item.workers]), job.most_servers_on, job.beta),
        )
        pair = []
        for number, most, demand in kinds:
            x = [model.new_int_var(0, min(number, m), "") for m in most.tolist()]
            model.add(sum(x) == number)
            charge(x, demand)
            pair.append(x)
        columns.append((pair[0], pair[1]))
    for h in range(machines):
        for r in range(resources):
            if use[h][r]:
                model.add(sum(use[h][r]) <= int(terms.capacity[h, r]))
    outcome = solve_cp(model, limits, seed)
    if outcome.status is Status.INFEASIBLE:
        return IMPOSSIBLE
    if outcome.values is None:
        return UNKNOWN
    counts: dict[int, Counts] = {}
    for item, (w, s) in zip(items, columns, strict=True):
        each = (item.workers, int(terms.jobs[item.job].servers[item.workers]))
        factor = each if item.inside else (1, 1)
        found = {
            h: (
                factor[0] * value_of(outcome.values, w_h),
                factor[1] * value_of(outcome.values, s_h),
            )
            for h, (w_h, s_h) in enumerate(zip(w, s, strict=True))
        }
        counts[item.job] = {h: n for h, n in found.items() if any(n)}
    return Packing(True, counts)
