"""What prices of the rows prove: weak duality of the tree-pair LP (F1), in exact arithmetic.

`subproblems.price_bound` computes the same for the search, which compares prices by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from gadgetopt.numbers.exact import common_denominator
from gadgetopt.pieces.graphs.cheapest_trees import MOST_TERMINALS, rooted_tree_costs
from gadgetopt.pieces.graphs.undirected_costs import is_symmetric, symmetric_tree_cost

from ...instance import ForestPackingInstance, Prices, Stage
from ...network import Network
from .roots import root_shares


def prices_bound(instance: ForestPackingInstance, proof: Prices) -> Fraction | None:
    r"""Return the bound of row prices :math:`y\ge0`.

    A plan's loads cost at most :math:`\sum_\rho C_\rho y_\rho` (of stages that take turns the
    larger of the two sums), and each tree pair at root r at least its cheapest in-tree and
    out-tree, :math:`\pi_r`, so :math:`R\min_r\pi_r` or, with given shares,
    :math:`R\sum_rw_r\pi_r` is no more.
    Where switches copy and sum, cheapest trees are Steiner trees; with too many workers for those
    nothing is proved.
    """
    network = instance.network
    by_stage: dict[Stage, Mapping[str, Fraction]] = {
        "reduce": proof.reduce,
        "broadcast": proof.broadcast,
    }
    given = {
        stage: row_prices(network, prices, stage, 1)
        for stage, prices in by_stage.items()
        if _is_stage(instance, stage, prices)
    }
    if len(given) == 2 and not instance.sequential and given["reduce"] != given["broadcast"]:
        raise ValueError("reduce: differs from broadcast, expected equal prices of both stages")
    scale = common_denominator(y for prices in given.values() for y in prices)
    # In integers from here on.
    whole = {
        stage: [y.numerator * (scale // y.denominator) for y in prices]
        for stage, prices in given.items()
    }
    capital = max(value_of_rows(network, prices) for prices in whole.values())
    by_root: list[int | None] = [0] * network.num_workers
    for stage, units in whole.items():
        costs = [sum(units[i] for i in rows) for rows in network.rows_of]
        arcs = list(network.arcs)
        if stage == "reduce":
            arcs = [(v, u) for u, v in arcs]
        trees = _tree_costs(instance, arcs, costs)
        if trees is None:
            return None
        by_root = [
            None if old is None or new is None else old + new
            for old, new in zip(by_root, trees, strict=True)
        ]
    shares = root_shares(instance)
    candidates = range(network.num_workers) if shares is None else shares
    costs_of = {r: c for r in candidates if (c := by_root[r]) is not None}
    if not costs_of or (shares is not None and len(costs_of) < len(shares)):
        return Fraction(0)  # from some root that must have a share no tree spans the workers
    if shares is None:
        cheapest = Fraction(min(costs_of.values()))
    else:
        cheapest = sum((w * costs_of[r] for r, w in shares.items()), Fraction(0))
    return capital / cheapest if cheapest else None


def _tree_costs(
    instance: ForestPackingInstance, arcs: Sequence[tuple[int, int]], costs: Sequence[int]
) -> list[int | None] | None:
    """Return the cost of each worker's cheapest out-tree, None if it has none; None if unknown."""
    network = instance.network
    workers = network.num_workers
    if not instance.in_network and is_symmetric(arcs, costs):
        # Nearly linear time: fast enough for a thousand workers.
        return [symmetric_tree_cost(workers, network.num_nodes, arcs, costs)] * workers
    if instance.in_network and workers > MOST_TERMINALS:
        return None
    through = None if instance.in_network else network.switches
    return rooted_tree_costs(workers, network.num_nodes, arcs, costs, through)


def value_of_rows(network: Network, prices: Sequence[Fraction | int]) -> Fraction:
    """Sum of capacity times price over the rows."""
    scale = common_denominator(prices)
    units = sum(
        capacity * y.numerator * (scale // y.denominator)
        for capacity, y in zip(network.int_row_capacity, prices, strict=True)
        if y
    )
    return network.unit * units / scale


def row_prices(
    network: Network, prices: Mapping[str, Fraction], where: str, scale: int
) -> list[Fraction]:
    """Prices of all rows in order, times `scale`."""
    names = {row.name for row in network.rows}
    for name, price in prices.items():
        if name not in names:
            raise ValueError(f"{where}: the network has no row {name!r}")
        if price < 0:
            raise ValueError(f"{where}[{name!r}]: {price} is negative")
    zero = Fraction(0)
    scaled = {name: y * scale for name, y in prices.items()}
    return [scaled.get(row.name, zero) for row in network.rows]


def _is_stage(
    instance: ForestPackingInstance, stage: Stage, prices: Mapping[str, Fraction]
) -> bool:
    """Return True if the collective has a stage; prices of one it lacks are an error."""
    if stage not in instance.stages and prices:
        raise ValueError(f"{stage}: prices, but {instance.collective} has no {stage} stage")
    return stage in instance.stages
