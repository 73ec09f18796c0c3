r"""Checks of partitions and families of cuts: weak duality in exact arithmetic.

Notation: G, H are the arc loads of the two stages in GB/s, w_r the rate rooted at r, all of a plan
of rate R; a row :math:`\rho` has capacity :math:`C_\rho`. Every plan satisfies, with
:math:`\sum_r w_r = R`,

.. math::
    \sum_{a\in\rho} (G_a + H_a) &\le C_\rho                                           \\
    G(\delta^-(s)) = G(\delta^+(s)), \quad H(\delta^-(s)) &= H(\delta^+(s)) && s\in S \tag{3} \\
    G(\delta^-(Q)) + w(Q) \ge R, \quad H(\delta^+(Q)) + w(Q) &\ge R && Q\cap W\ne\emptyset \tag{F3}

where stages that take turns have :math:`H(\rho)\le s_1C_\rho,\ G(\rho)\le s_2C_\rho,\ s_1+s_2\le1`.
(F3): a tree whose root is not in Q enters (leaves) Q, as Q has a worker. (3) fails where switches
copy and sum; the others hold there too. Nothing else is assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from gadgetopt.numbers.arrays import Bools
from gadgetopt.numbers.exact import common_denominator

from ...instance import (
    CutFamily,
    ForestPackingInstance,
    Partition,
    Stage,
)
from ...network import Network
from .prices import row_prices, value_of_rows
from .roots import root_shares


def partition_bound(instance: ForestPackingInstance, proof: Partition) -> Fraction | None:
    """Return the bound of a partition or subpartition.

    It is the cut family with every part once in each stage. Parts are disjoint, so an arc enters at
    most one and leaves at most one, and needs a price of 1 if it does either. Where the stages take
    turns the two are weighed so that both cost the same. A NIC is charged where that is cheaper
    than its arcs.
    """
    seen: set[int] = set()
    for i, part in enumerate(proof.parts):
        _check_nodes(instance, part, f"parts[{i}]")
        if twice := sorted(seen & set(part)):
            raise ValueError(f"parts[{i}]: node {twice[0]} is in another part too")
        seen |= set(part)
    network = instance.network
    sides = [_side(network, part) for part in proof.parts]
    held, credit = _needs(
        instance, [(stage, side, 1) for stage in instance.stages for side in sides]
    )
    cost = {stage: _cheapest_rows(network, [held[stage]]) for stage in instance.stages}
    forced = len(proof.parts) - _most_by_roots(instance, credit) / len(instance.stages)
    if forced <= 0:
        return None
    if instance.sequential:
        # R forced <= s_1 cost_1 and R forced <= s_2 cost_2.
        reduce, broadcast = cost["reduce"], cost["broadcast"]
        both = reduce + broadcast
        return reduce * broadcast / (forced * both) if both else Fraction(0)
    together = _cheapest_rows(network, list(held.values()))
    return together / (forced * len(instance.stages))


def cut_family_bound(instance: ForestPackingInstance, proof: CutFamily) -> Fraction | None:
    r"""Return the bound of multipliers :math:`\lambda_Q\ge0` of cuts and potentials of switches.

    Add the rows (F3) times :math:`\lambda_Q` and the balances times their potentials. An arc's
    load then has some coefficient, at most the prices of its rows, so the loads cost at most
    :math:`\sum_\rho C_\rho y_\rho` (of stages that take turns the larger of the two sums), and

    .. math::
        R \Big(\sum_Q\lambda_Q - \max_r\sum_{Q\ni r}\lambda_Q\Big) \le \sum_\rho C_\rho y_\rho

    with :math:`\sum_r w_r\sum_{Q\ni r}\lambda_Q` for the maximum where shares are given.
    """
    network = instance.network
    for i, cut in enumerate(proof.cuts):
        where = f"cuts[{i}]"
        _check_nodes(instance, cut.nodes, where)
        _check_stage(instance, cut.stage, where)
        if cut.multiplier < 0:
            raise ValueError(f"{where}.multiplier: {cut.multiplier} is negative")
    for i, potential in enumerate(proof.potentials):
        _check_stage(instance, potential.stage, f"potentials[{i}]")
        if potential.switch not in instance.switches:
            raise ValueError(f"potentials[{i}].switch: {potential.switch} is not a switch")
    if proof.reduce_prices is not None and not instance.sequential:
        raise ValueError("reduce_prices: given, but the stages do not take turns")
    if instance.in_network and any(p.value for p in proof.potentials):
        return None
    numbers = [*(c.multiplier for c in proof.cuts), *(p.value for p in proof.potentials)]
    scale = common_denominator(numbers)
    prices = row_prices(network, proof.prices or {}, "prices", scale)
    reduce_prices = prices
    if proof.reduce_prices is not None:
        reduce_prices = row_prices(network, proof.reduce_prices, "reduce_prices", scale)
    held, credit = _needs(
        instance,
        [(c.stage, _side(network, c.nodes), int(c.multiplier * scale)) for c in proof.cuts],
    )
    for p in proof.potentials:
        if (s := network.index.get(p.switch)) is not None:
            held[p.stage][network.in_arcs[s]] += int(p.value * scale)
            held[p.stage][network.out_arcs[s]] -= int(p.value * scale)
    forced = sum(c.multiplier for c in proof.cuts) * scale - _most_by_roots(instance, credit)
    if forced <= 0:
        return None
    if not instance.sequential:
        return _rows_cost(network, list(held.values()), prices) / forced
    # The loads cost at most s_1 of the one sum and s_2 of the other.
    reduce = _rows_cost(network, [held["reduce"]], reduce_prices)
    return max(reduce, _rows_cost(network, [held["broadcast"]], prices)) / forced


# -- loads, rows and roots ---------------------------------------------------------------------


def _needs(
    instance: ForestPackingInstance, cuts: Iterable[tuple[Stage, Bools, int]]
) -> tuple[dict[Stage, npt.NDArray[Any]], list[int]]:
    """Coefficient of each arc's load per stage, and of each worker's w_r, in a sum of cut rows."""
    network = instance.network
    held: dict[Stage, npt.NDArray[Any]] = {
        stage: np.zeros(len(network.arcs), dtype=object) for stage in instance.stages
    }
    credit = np.zeros(network.num_workers, dtype=object)
    for stage, inside, multiplier in cuts:
        credit[inside[: network.num_workers]] += multiplier
        inner, outer = network.heads, network.tails
        if stage == "reduce":
            inner, outer = outer, inner
        held[stage][inside[inner] & ~inside[outer]] += multiplier
    return held, credit.tolist()


def _most_by_roots(instance: ForestPackingInstance, credit: Sequence[int]) -> Fraction:
    """Return the largest sum of w_r/R times the coefficient of w_r that the root shares allow."""
    shares = root_shares(instance)
    if shares is None:
        return Fraction(max(credit))
    return sum((w * credit[r] for r, w in shares.items()), Fraction(0))


def _rows_cost(
    network: Network, needs: Sequence[npt.NDArray[Any]], prices: Sequence[Fraction | int]
) -> Fraction:
    """Value of the NIC rows at their prices, and of the others so that every arc's need is met."""
    need = needs[0] if len(needs) == 1 else np.maximum(needs[0], needs[1])
    total: list[Fraction | int] = list(prices)
    for own in {rows[0] for rows in network.rows_of}:
        total[own] = 0
    for need_a, (own, *nics) in zip(need.tolist(), network.rows_of, strict=True):
        # The first row of an arc is its own or its cable's, which both directions need.
        short = need_a - sum(prices[i] for i in nics) if nics else need_a
        total[own] = max(total[own], short)
    return value_of_rows(network, total)


def _cheapest_rows(network: Network, needs: Sequence[npt.NDArray[Any]]) -> Fraction:
    """Value of rows that cover needs of 0 and 1: cables alone, or NICs in one direction first."""
    need = needs[0] if len(needs) == 1 else np.maximum(needs[0], needs[1])
    cables = [0] * len(network.rows)
    candidates = [cables, list(cables), list(cables)]
    for i, row in enumerate(network.rows):
        for direction, prices in zip(("nic in", "nic out"), candidates[1:], strict=True):
            if row.name.startswith(direction):
                arcs = sum((network.capacity[a] for a in row.arcs if need[a] > 0), Fraction(0))
                prices[i] = int(row.capacity < arcs)
    return min(
        _rows_cost(network, [need], prices)
        for k, prices in enumerate(candidates)
        if k == 0 or any(prices)
    )


# -- valid nodes and stages of a certificate ---------------------------------------------------


def _side(network: Network, nodes: Iterable[int]) -> Bools:
    """Return which nodes of the network are in a set; switches without links are left out."""
    inside = np.zeros(network.num_nodes, dtype=np.bool_)
    inside[[network.index[v] for v in nodes if v in network.index]] = True
    return inside


def _check_nodes(instance: ForestPackingInstance, nodes: Sequence[int], where: str) -> None:
    known = {*instance.workers, *instance.switches}
    for v in nodes:
        if v not in known:
            raise ValueError(f"{where}: {v} is neither a worker nor a switch")
    if set(instance.workers).isdisjoint(nodes):
        raise ValueError(f"{where}: has no worker")


def _check_stage(instance: ForestPackingInstance, stage: Stage, where: str) -> None:
    if stage not in instance.stages:
        raise ValueError(f"{where}.stage: {instance.collective} has no {stage} stage")
