r"""The check of a lower bound in whole numbers, without a solver and apart from the search.

A certificate is a binary tree of cases: each branch divides the signatures of one operator in two.
Each leaf bounds the cost with the memory limit priced in, which is a lower bound for all
:math:`\lambda \ge 0`,

.. math:: \min_x c(x) + \sum_g \lambda_g (m_g(x) - M^{max}).

* By default by eliminating the nodes in an order that it gives (`least_cost`); that is exact but
  where it splits nodes.
* With `messages` by moving costs (`moved_costs`), after labels are taken away that others replace.
* With a `cutoff` too: labels with which the moved costs exceed it are left out, and elimination
  bounds the rest. The bound is then at most the cutoff.
* `rounds` before that take labels away by messages and a cutoff each, one after the other; the
  bound is then at most their cutoffs.
* `crowded`: no signatures that the leaf allows fit the memory of a placement.

The bound of the certificate is the least of the leaves'.

Before the cases, `fixings` may take labels away: those whose least cost (`least_with_label`), with
the memory limit priced in, reaches a cutoff. The bound is then at most the cutoff.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from gadgetopt.numbers.garbage import cycle_collector_paused

from ...instance import OneFlowSbpInstance
from .cost_tables import FORBIDDEN, CostTables, Domains, cost_tables
from .least_cost import least_cost
from .least_with_label import least_with_label
from .moved_costs import MovedCosts
from .records import Branch, Fixing, Leaf, OneFlowSbpCertificate

#: Leaves that a check may go through. Tuned: `benchmarks/constants.py`.
MOST_LEAVES = 10**5


def check_bound(
    instance: OneFlowSbpInstance, certificate: OneFlowSbpCertificate
) -> Fraction | None:
    """Return the lower bound that a certificate proves; None if it proves none.

    Raises
    ------
    ValueError
        If it does not fit the instance, or its numbers do not fit 64 bits.
    """
    if sum(isinstance(node, Leaf) for node in certificate.tree) > MOST_LEAVES:
        raise ValueError(f"tree: more than {MOST_LEAVES} leaves")
    with cycle_collector_paused():
        return _bound_of(instance, certificate)


def _bound_of(instance: OneFlowSbpInstance, certificate: OneFlowSbpCertificate) -> Fraction | None:
    check = _Check(instance, certificate)
    bounds = [fixing.cutoff for fixing in certificate.fixings]
    domains = check.costs.allowed
    for i, fixing in enumerate(certificate.fixings):
        left = check.fixed(domains, fixing, f"fixings[{i}]")
        if left is None:
            return min(bounds)
        domains = left
    open_cases = [domains]
    for i, node in enumerate(certificate.tree):
        if not open_cases:
            raise ValueError(f"tree[{i}]: the cases are complete before it")
        case = open_cases.pop()
        if isinstance(node, Branch):
            open_cases.extend(reversed(check.divided(case, node, f"tree[{i}]")))
            continue
        bound = check.bound(case, node, f"tree[{i}]")
        if bound is not None:
            bounds.append(bound)
    if open_cases:
        raise ValueError(f"tree: {len(open_cases)} cases are missing at its end")
    return min(bounds, default=None)


class _Check:
    """The tables of an instance, and what a certificate says of them."""

    def __init__(self, instance: OneFlowSbpInstance, certificate: OneFlowSbpCertificate):
        self.operators, self.placements = len(instance.operators), len(instance.placements)
        self.scale, self.most_cells = certificate.scale, certificate.most_cells
        self.costs: CostTables = cost_tables(instance, self.scale)
        self.limit: int | None = self.costs.limit_bytes
        every = range(len(self.costs.own))
        for i, order in enumerate(certificate.orders):
            if sorted(order) != list(every):
                raise ValueError(f"orders[{i}]: not an order of the {len(every)} nodes")
        self.orders: list[Sequence[int]] = [*certificate.orders, every]

    def fixed(self, domains: Domains, fixing: Fixing, where: str) -> Domains | None:
        """Return the labels that a fixing leaves; None if some node has none."""
        prices = self._prices(fixing.multipliers, where)
        price = sum(prices) * (self.limit or 0)
        cutoff = min(math.ceil(fixing.cutoff * self.scale) + price, FORBIDDEN)
        try:
            order = self._order(fixing.order)
            least = least_with_label(self.costs.priced(prices), domains, order)
        except ValueError as error:
            raise ValueError(f"{where}.{error}") from None
        left = [
            tuple(k for k, cost in zip(domain, costs.tolist(), strict=True) if cost < cutoff)
            for domain, costs in zip(domains, least, strict=True)
        ]
        return left if all(left) else None

    def divided(self, case: Domains, branch: Branch, where: str) -> tuple[Domains, Domains]:
        """Return the two cases of a branch."""
        o, wanted = branch.operator, set(branch.signatures)
        if o >= self.operators:
            raise ValueError(f"{where}.operator: {o}, but there are {self.operators}")
        first = tuple(k for k in case[o] if k in wanted)
        second = tuple(k for k in case[o] if k not in wanted)
        if not first or not second:
            raise ValueError(f"{where}.signatures: all or none of what is left of operator {o}")
        return [*case[:o], first, *case[o + 1 :]], [*case[:o], second, *case[o + 1 :]]

    def bound(self, case: Domains, leaf: Leaf, where: str) -> Fraction | None:
        """Return the bound of a leaf; None if it allows nothing."""
        prices = self._prices(leaf.multipliers, where)
        try:
            if leaf.crowded is not None:
                self._check_crowded(case, leaf, leaf.crowded)
                return None
            least = self._least(self.costs.priced(prices), case, leaf)
        except ValueError as error:
            raise ValueError(f"{where}.{error}") from None
        if least >= FORBIDDEN:
            return None
        return (least - sum(prices) * (self.limit or 0)) / self.scale

    def _least(self, costs: CostTables, case: Domains, leaf: Leaf) -> int:
        """Return the least that the rounds leave, at most their cutoffs."""
        tables, most = MovedCosts(costs, case), FORBIDDEN
        for i, said in enumerate(leaf.rounds):
            cutoff = math.floor(said.cutoff * self.scale)
            most = min(most, cutoff)
            tables.replace(said.replaced, f"rounds[{i}].replaced")
            left = tables.below(cutoff - tables.move(said.messages))
            if not all(left):
                return most
            tables.domains = left
        return min(most, self._least_left(costs, tables, leaf))

    def _least_left(self, costs: CostTables, tables: MovedCosts, leaf: Leaf) -> int:
        if leaf.messages is None:
            return self._eliminated(costs, tables.domains, leaf)
        tables.replace(leaf.replaced, "replaced")
        moved = tables.move(leaf.messages)
        cutoff = moved if leaf.cutoff is None else math.floor(leaf.cutoff * self.scale)
        if moved >= cutoff:
            return moved
        left = tables.below(cutoff - moved)
        if not all(left):
            return cutoff
        tables.domains = left
        tables.replace(leaf.replaced_then, "replaced_then")
        return max(moved, min(cutoff, self._eliminated(costs, tables.domains, leaf)))

    def _eliminated(self, costs: CostTables, case: Domains, leaf: Leaf) -> int:
        order = self._order(leaf.order)
        return least_cost(costs, case, order, leaf.splits, self.most_cells)

    def _check_crowded(self, case: Domains, leaf: Leaf, group: int) -> None:
        if self.limit is None or group >= self.placements:
            raise ValueError("crowded: no memory limit or no such placement")
        least = self._eliminated(self.costs.memory_of(group), case, leaf)
        if least <= self.limit:
            raise ValueError(f"crowded: {least} bytes fit the limit")

    def _order(self, number: int | None) -> Sequence[int]:
        if number is None:
            return self.orders[-1]
        if number >= len(self.orders) - 1:
            raise ValueError(f"order: {number}, but there are {len(self.orders) - 1}")
        return self.orders[number]

    def _prices(self, multipliers: Sequence[Fraction], where: str) -> list[int]:
        """Return multipliers in units of 1 / scale, rounded down."""
        expected = 0 if self.limit is None else self.placements
        if multipliers and len(multipliers) != expected:
            raise ValueError(f"{where}.multipliers: {len(multipliers)}, expected {expected}")
        return [math.floor(m * self.scale) for m in multipliers] or [0] * self.placements
