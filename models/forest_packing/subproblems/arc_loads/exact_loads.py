"""The optimum of the cut LP in rational numbers, from the basis in which HiGHS ends.

The basis says which rows are tight and which columns are at a bound; the rest is a square system
whose coefficients are whole numbers once capacities are in their common unit (`exact_vertex`).
Capacities are not clipped here, and nothing is rounded. Loads are checked against the capacities,
balances and cuts by whoever uses them: cuts that are not in the LP may still be violated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Bools
from gadgetopt.numbers.exact_vertex import exact_vertex
from gadgetopt.pieces.graphs.flows import BigInts

from ...instance import Stage
from ...packing import required_shares
from .cut_lp import CutLp

#: A row of the LP: coefficients by column, and the side that it is at.
Row = tuple[dict[int, Fraction | int], Fraction | int]


@dataclass(frozen=True)
class ExactLoads:
    """Rates and loads as whole multiples of `unit`, GB/s; every capacity is one too.

    Attributes
    ----------
    unit : Fraction
    rate : int
    roots : integer ndarray, shape (workers,)
        The w_r, which add up to the rate.
    loads : dict of integer ndarray, shape (arcs,)
        By stage of the collective.
    """

    unit: Fraction
    rate: int
    roots: BigInts
    loads: dict[Stage, BigInts]


@dataclass(frozen=True)
class ExactMultipliers:
    """Duals of the cut LP as `Multipliers` has them, in rational numbers."""

    cuts: list[tuple[Stage, Bools, Fraction]]
    potentials: list[tuple[Stage, int, Fraction]]
    prices: dict[Stage, list[Fraction]]


def exact_optimum(lp: CutLp) -> tuple[ExactLoads, ExactMultipliers] | None:
    """Return the vertex of the last optimum; None if it is not found or has negative numbers."""
    places, sides = lp.lp.basis
    upper = _upper_bounds(lp)
    values: dict[int, Fraction | int] = {j: upper[j] for j, p in enumerate(places) if p == 1}
    columns: dict[int, dict[int, Fraction | int]] = {
        j: {} for j, place in enumerate(places) if place == 0
    }
    tight = {}
    for i, (entries, side) in _rows(lp, {i for i, at in enumerate(sides) if at != 0}).items():
        tight[i] = side - sum(a * values[j] for j, a in entries.items() if j in values)
        for j in entries.keys() & columns.keys():
            columns[j][i] = entries[j]
    vertex = exact_vertex(columns, {0: 1}, tight)
    if vertex is None:
        return None
    loads = _loads(lp, {**values, **vertex.values})
    multipliers = _multipliers(lp, vertex.duals)
    return None if loads is None or multipliers is None else (loads, multipliers)


def _upper_bounds(lp: CutLp) -> dict[int, int]:
    """Return the upper bounds of columns: of shared loads in units, of parts of the time."""
    upper = dict.fromkeys(lp.turns.values(), 1)
    for load in lp.load_of.values():
        for a in np.flatnonzero(lp.shared).tolist():
            upper[int(load.column[a])] = lp.network.int_capacity[a]
    return upper


def _rows(lp: CutLp, wanted: set[int]) -> dict[int, Row]:
    """Return rows by number, with capacities in the network's unit."""
    rows: dict[int, Row] = {}
    if lp.roots[0] >= 0:
        rows[0] = {**dict.fromkeys(lp.roots.tolist(), 1), 0: -1}, 0
    if lp.turns:
        rows[len(rows)] = dict.fromkeys(lp.turns.values(), 1), 1
    for group, index, i in lp.capacity_rows:
        if i in wanted:
            rows[i] = _capacity(lp, group, index)
    for stage, s, i in lp.balances:
        if i in wanted:
            signs = dict.fromkeys(lp.network.out_arcs[s], -1)
            rows[i] = _sum(lp, stage, {**dict.fromkeys(lp.network.in_arcs[s], 1), **signs})[0], 0
    for stage, inside, i in lp.cuts:
        if i in wanted:
            rows[i] = _cut(lp, stage, inside)
    return {i: row for i, row in rows.items() if i in wanted}


def _capacity(lp: CutLp, group: Stage | None, index: int) -> Row:
    entries: dict[int, Fraction | int] = {}
    capacity = lp.network.int_row_capacity[index]
    for stage in lp.instance.stages if group is None else (group,):
        of_stage, _ = _sum(lp, stage, dict.fromkeys(lp.network.rows[index].arcs, 1))
        for j, a in of_stage.items():
            entries[j] = entries.get(j, 0) + a
    if group is not None and lp.turns:
        entries[lp.turns[group]] = -capacity
        return entries, 0
    return entries, capacity


def _cut(lp: CutLp, stage: Stage, inside: Bools) -> Row:
    entering = np.flatnonzero(inside[lp.heads[stage]] & ~inside[lp.tails[stage]])
    entries, constant = _sum(lp, stage, dict.fromkeys(entering.tolist(), 1))
    entries[0] = entries.get(0, 0) - 1
    shares = required_shares(lp.instance) or {}
    for r in np.flatnonzero(inside[: lp.network.num_workers]).tolist():
        if lp.roots[r] >= 0:
            entries[int(lp.roots[r])] = 1
        else:
            entries[0] += shares.get(r, 0)
    return entries, -constant


def _sum(
    lp: CutLp, stage: Stage, signs: Mapping[int, int]
) -> tuple[dict[int, Fraction | int], int]:
    """Return the sum of loads of arcs with signs: coefficients of columns, and the constant."""
    load = lp.load_of[stage]
    entries: dict[int, Fraction | int] = {}
    constant = 0
    for a, sign in signs.items():
        capacity = lp.network.int_capacity[a]
        constant += sign * capacity if load.held[a] else 0
        j = int(load.column[a])
        if j >= 0:
            factor = capacity if load.filled else int(load.factor[a])
            entries[j] = entries.get(j, 0) + sign * factor
    return entries, constant


def _loads(lp: CutLp, values: Mapping[int, Fraction | int]) -> ExactLoads | None:
    """Return loads and rates at the columns' values; None if any is negative."""
    shares = required_shares(lp.instance) or {}
    denominator = math.lcm(*(Fraction(x).denominator for x in values.values()))
    denominator *= math.lcm(*(w.denominator for w in shares.values()))
    x = np.zeros(lp.lp.num_columns + 1, dtype=object)  # the last one for column -1
    for j, value in values.items():
        x[j] = int(value * denominator)
    rate = x[0]
    roots = [
        x[j] if j >= 0 else int(shares.get(r, 0) * rate) for r, j in enumerate(lp.roots.tolist())
    ]
    capacity = np.array(lp.network.int_capacity, dtype=object)
    loads: dict[Stage, BigInts] = {}
    for stage in lp.instance.stages:
        load = lp.load_of[stage]
        factor = capacity if load.filled else load.factor.astype(int).astype(object)
        loads[stage] = load.held * capacity * denominator + factor * x[load.column]
    if rate < 0 or min(roots) < 0 or any((load < 0).any() for load in loads.values()):
        return None
    return ExactLoads(lp.network.unit / denominator, rate, np.array(roots, dtype=object), loads)


def _multipliers(lp: CutLp, duals: Mapping[int, Fraction]) -> ExactMultipliers | None:
    """Return the duals of the rows, of both stages if they mirror; None if a sign is wrong."""
    zero = Fraction(0)
    cuts = [(stage, inside, -duals[i]) for stage, inside, i in lp.cuts if duals.get(i)]
    potentials = [(stage, s, -duals[i]) for stage, s, i in lp.balances if duals.get(i)]
    if lp.mirrored:
        cuts += [("reduce", inside, z) for _, inside, z in cuts]
        potentials += [("reduce", s, -value) for _, s, value in potentials]
    prices = {stage: [zero] * len(lp.network.rows) for stage in lp.instance.stages}
    for group, row, i in lp.capacity_rows:
        for stage in prices if group is None else (group,):
            prices[stage][row] = duals.get(i, zero)
    negative = min((z for _, _, z in cuts), default=zero) < 0
    if negative or any(min(given, default=zero) < 0 for given in prices.values()):
        return None
    return ExactMultipliers(cuts, potentials, prices)
