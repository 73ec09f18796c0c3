"""What rational prices of the rows would prove, by which the search compares them.

A certificate's check computes it by itself (`proving.certificate.prices`, which has the reasons); a
test holds the two against each other.
"""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.numbers.exact import common_denominator
from gadgetopt.pieces.graphs.cheapest_trees import MOST_TERMINALS, rooted_tree_costs
from gadgetopt.pieces.graphs.undirected_costs import is_symmetric, symmetric_tree_cost

from ..instance import ForestPackingInstance, Prices
from ..packing import required_shares


def prices_bound(instance: ForestPackingInstance, prices: Prices) -> Fraction | None:
    """Return the bound on the rate, GB/s, of prices of known rows; None if they prove none."""
    network, workers = instance.network, instance.network.num_workers
    if instance.in_network and workers > MOST_TERMINALS:
        return None
    named = {"reduce": prices.reduce, "broadcast": prices.broadcast}
    scale = common_denominator([y for stage in instance.stages for y in named[stage].values()])
    capital, trees = 0, [0] * workers
    lost: set[int] = set()  # workers from which no tree spans the others
    for stage in instance.stages:
        units = [int(named[stage].get(row.name, 0) * scale) for row in network.rows]
        capacity = zip(network.int_row_capacity, units, strict=True)
        capital = max(capital, sum(c * y for c, y in capacity))
        costs = [sum(units[i] for i in rows) for rows in network.rows_of]
        arcs = [(v, u) if stage == "reduce" else (u, v) for u, v in network.arcs]
        found: list[int | None]
        if is_symmetric(arcs, costs) and not instance.in_network:
            found = [symmetric_tree_cost(workers, network.num_nodes, arcs, costs)] * workers
        else:
            through = None if instance.in_network else network.switches
            found = rooted_tree_costs(workers, network.num_nodes, arcs, costs, through)
        lost |= {r for r, cost in enumerate(found) if cost is None}
        trees = [old + (cost or 0) for old, cost in zip(trees, found, strict=True)]
    shares = required_shares(instance)
    if (len(lost) == workers) if shares is None else (lost & set(shares)):
        return Fraction(0)
    if shares is None:
        least = Fraction(min(cost for r, cost in enumerate(trees) if r not in lost))
    else:
        least = sum((w * trees[r] for r, w in shares.items()), Fraction(0))
    return network.unit * capital / least if least else None
