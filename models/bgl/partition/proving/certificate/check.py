r"""Certificates of lower bounds on the cost of a partition, and their check in whole numbers.

Weights are scaled to whole numbers, rounded down where that is impossible; all bounds below are
those of the scaled weights, divided by the scale.

* `Elimination`: an order of the branched nodes, and what is forgotten; the check goes through
  their partitions on its own (`partial_partitions`).
* `Stars`: a node with more neighbours than fit into its part loses the lightest ones.
* `IsolatingCuts`: for every training node t a price :math:`\lambda_t`. Its part S has at most
  :math:`C_T` training nodes, so what is cut around it is at least

  .. math:: \ell_t = \min_{S \ni t} w(\delta(S)) + \lambda_t (|T \cap S| - C_T),

  a minimum cut. The cost is at least every :math:`\ell_t`; and, as every cut pair is around two
  parts and a part has at most :math:`C_T` training nodes, :math:`\sum_t \ell_t / (2 C_T)`.
* `Semidefinite`: which training nodes are in the same part, relaxed (`same_part.py`).
* `GroupPrices`: prices of nodes, where the groups of training nodes can be listed
  (`group_prices.py`).
* `Cuts`: valid inequalities at prices, and a tree of cases (`cuts.py`).
  The scaled cost is a whole number, so this bound is rounded up to one.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints
from gadgetopt.pieces.graphs.flows import FlowNetwork
from gadgetopt.system.data import Certificate, Data, NonNegativeInt, Rational

from ...instance import BglPartitionInstance
from .cuts import (
    Cuts,
    tree_bound,
)
from .group_prices import GroupPrices, group_bound
from .partial_partitions import Branched, least_cost, least_cost_of_two
from .same_part import Semidefinite
from .same_part import semidefinite_bound as bound_of_same_parts

#: Pairs times training nodes of a check. Tuned: `benchmarks/constants.py`.
MOST_FLOW = 10**8


class Elimination(Data):
    """The elimination of the branched nodes in an order.

    Attributes
    ----------
    every_node : bool
        Nodes that are no training nodes are branched on too.
    order : tuple of int
    forgotten : tuple of tuple of int
        After each step; shorter where nothing follows.
    at_least : Rational or None
        The bound proved is at most this.
    placed : bool
        With two parts: nothing is merged, and the node cap is charged.
    """

    kind: Literal["elimination"] = "elimination"
    every_node: bool = False
    order: tuple[NonNegativeInt, ...]
    forgotten: tuple[tuple[NonNegativeInt, ...], ...] = ()
    at_least: Rational | None = None
    placed: bool = False


class Stars(Data):
    """The lightest neighbours of nodes with more than fit into a part."""

    kind: Literal["stars"] = "stars"


class IsolatingCuts(Data):
    r"""Prices :math:`\lambda_t` of the training nodes, of the scaled weights."""

    kind: Literal["isolating_cuts"] = "isolating_cuts"
    prices: tuple[NonNegativeInt, ...]


Proof = Elimination | Stars | IsolatingCuts | Cuts | Semidefinite | GroupPrices


class BglPartitionCertificate(Certificate):
    """A proof of a lower bound."""

    proof: Annotated[Proof, Field(discriminator="kind")]


def check_bound(
    instance: BglPartitionInstance, certificate: BglPartitionCertificate
) -> Fraction | None:
    """Return the lower bound that a certificate proves; None if it proves none.

    Raises
    ------
    ValueError
        If it refers to nodes that are not there, or its check would take too long.
    """
    proof = certificate.proof
    try:
        if isinstance(proof, Elimination):
            bound = _eliminated(instance, proof)
        elif isinstance(proof, Stars):
            bound = Fraction(star_bound(instance))
        elif isinstance(proof, IsolatingCuts):
            bound = isolating_bound(instance, proof.prices)
        elif isinstance(proof, Semidefinite):
            bound = bound_of_same_parts(instance, proof)
        elif isinstance(proof, GroupPrices):
            bound = Fraction(group_bound(instance, proof))
        else:
            found = _cut(instance, proof)
            if found is None:
                return None
            bound = found
    except ModelRefused as refusal:
        raise ValueError(str(refusal)) from refusal
    return max(Fraction(0), bound / instance.pair_weights.scale)


def _cut(instance: BglPartitionInstance, proof: Cuts) -> Fraction | None:
    bound = tree_bound(instance, proof)
    return None if bound is None else Fraction(-(-bound // proof.unit))


# -- elimination -----------------------------------------------------------------------------------


def _eliminated(instance: BglPartitionInstance, proof: Elimination) -> Fraction:
    branched = Branched.of(instance, every_node=proof.every_node)
    if sorted(proof.order) != sorted(branched.pairs):
        raise ValueError(f"order: expected each of the {len(branched.pairs)} branched nodes once")
    if len(proof.forgotten) > len(proof.order):
        raise ValueError(f"forgotten: {len(proof.forgotten)} for {len(proof.order)} steps")
    most = int(instance.pair_weights.scaled.sum()) + 1
    if proof.at_least is not None:
        most = min(most, math.floor(proof.at_least * instance.pair_weights.scale))
    if proof.placed:
        return Fraction(least_cost_of_two(branched, proof.order, most))
    return Fraction(least_cost(branched, proof.order, proof.forgotten, most))


# -- counting --------------------------------------------------------------------------------------


def star_bound(instance: BglPartitionInstance) -> int:
    """Return what the stars lose; a pair is in the star of a training node, else of the first."""
    weights, trained = instance.pair_weights, set(instance.train_nodes)
    stars: dict[int, list[tuple[int, bool]]] = {}
    for a, b, w in zip(
        weights.first.tolist(), weights.second.tolist(), weights.scaled.tolist(), strict=True
    ):
        centre, other = (a, b) if a in trained or b not in trained else (b, a)
        stars.setdefault(centre, []).append((w, other in trained))
    total = 0
    for centre, rays in stars.items():
        rays.sort()
        trained_rays = [w for w, is_trained in rays if is_trained]
        lost = sum(w for w, _ in rays[: max(0, len(rays) - (instance.node_cap - 1))])
        room = instance.train_cap - (centre in trained)
        total += max(lost, sum(trained_rays[: max(0, len(trained_rays) - room)]))
    return total


# -- minimum cuts ----------------------------------------------------------------------------------


class IsolatingNetwork:
    """The network of the isolating cuts: the weights, and a sink that every training node sees."""

    trained: Ints
    sink: int
    train_cap: int

    def __init__(self, instance: BglPartitionInstance):
        weights = instance.pair_weights
        n, self.trained = instance.num_nodes, np.array(instance.train_nodes, dtype=np.int64)
        if len(weights) * len(self.trained) > MOST_FLOW:
            raise ModelRefused(f"isolating cuts: more than {MOST_FLOW} pairs times training nodes")
        a, b = weights.first, weights.second
        sink = np.full(len(self.trained), n)
        self.network: FlowNetwork = FlowNetwork(
            n + 1, np.concatenate([a, b, self.trained]), np.concatenate([b, a, sink])
        )
        self.weights: Ints = weights.scaled
        self.sink, self.train_cap = n, instance.train_cap

    def cut(self, t: int, price: int) -> tuple[int, int]:
        """Return the isolating cut at a price, and the training nodes on t's side."""
        prices = np.array([0 if u == t else price for u in self.trained.tolist()], dtype=object)
        capacity = np.concatenate([self.weights.astype(object)] * 2 + [prices])
        flow = self.network.max_flow(capacity, t, self.sink)
        inside = int(flow.source_side()[self.trained].sum())
        return flow.value + price * (1 - self.train_cap), inside


def isolating_bound(instance: BglPartitionInstance, prices: tuple[int, ...]) -> Fraction:
    """Return the bound of the isolating cuts at these prices, of the scaled weights."""
    if len(prices) != len(instance.train_nodes):
        raise ValueError(f"prices: {len(prices)} for {len(instance.train_nodes)} training nodes")
    network = IsolatingNetwork(instance)
    cuts = [
        max(0, network.cut(t, price)[0])
        for t, price in zip(instance.train_nodes, prices, strict=True)
    ]
    return max(Fraction(max(cuts)), Fraction(sum(cuts), 2 * instance.train_cap))
