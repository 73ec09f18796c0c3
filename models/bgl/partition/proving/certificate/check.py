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
* `Eigenvalue`: a diagonal d and prices :math:`\sigma, \tau \ge 0` for which
  :math:`M = L + \mathrm{diag}(d) + \sigma t t^T + \tau 1 1^T` is positive semidefinite, L being the
  Laplacian of the weights and t the indicator of the training nodes. With the indicators
  :math:`x_i` of the parts :math:`\sum_i x_i x_i^T - 11^T/k` is positive semidefinite too, so

  .. math:: 2\,\mathrm{cost} = \sum_i x_i^T L x_i \ge -\Big(1 - \frac1k\Big) \sum_v d_v
      - \sigma \Big(S_T - \frac{|T|^2}{k}\Big) - \tau \Big(S_N - \frac{n^2}{k}\Big),

  :math:`S_T` and :math:`S_N` being the largest sums of squared loads. (Donath and Hoffman 1973 have
  the diagonal; the prices are the duals of balance.) A fixed-point Cholesky factor, made here in
  whole numbers, leaves a residual that has to be diagonally dominant.
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
    Cut,
    Cuts,
    priced,
    tree_bound,
)
from .partial_partitions import Branched, least_cost, least_cost_of_two

#: Nodes of a matrix, and pairs times training nodes of a check.
MOST_MATRIX, MOST_FLOW = 1500, 10**8
#: Bits of the entries of a fixed-point matrix.
MATRIX_BITS = 58


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


class Eigenvalue(Data):
    r"""A diagonal and prices of balance, in units of the scaled weights over `unit`.

    Attributes
    ----------
    nodes : tuple of int
        Nodes of the matrix; weights of pairs beyond them are left out.
    diagonal : tuple of int
    train_price, node_price : int
        :math:`\sigma` and :math:`\tau`.
    unit : int
    cuts : tuple of Cut
        What is bounded is the weights less prices times cuts; the cuts are worth the rest.
    prices : tuple of int
    """

    kind: Literal["eigenvalue"] = "eigenvalue"
    nodes: tuple[NonNegativeInt, ...]
    diagonal: tuple[int, ...]
    train_price: NonNegativeInt = 0
    node_price: NonNegativeInt = 0
    unit: Annotated[int, Field(gt=0, le=2**62)] = 1
    cuts: tuple[Cut, ...] = ()
    prices: tuple[NonNegativeInt, ...] = ()


Proof = Elimination | Stars | IsolatingCuts | Eigenvalue | Cuts


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
        else:
            found = (
                _cut(instance, proof) if isinstance(proof, Cuts) else _eigenvalue(instance, proof)
            )
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


# -- positive semidefinite matrices ----------------------------------------------------------------


def largest_square_sum(count: int, most: int) -> int:
    """Return the largest sum of squares of loads that add up to a count, none above `most`."""
    full, rest = divmod(count, most)
    return full * most**2 + rest**2


def _eigenvalue(instance: BglPartitionInstance, proof: Eigenvalue) -> Fraction | None:
    nodes, n = proof.nodes, len(proof.nodes)
    if len(set(nodes)) < n or any(v >= instance.num_nodes for v in nodes):
        raise ValueError("nodes: expected different nodes of the graph")
    if len(proof.diagonal) != n:
        raise ValueError(f"diagonal: {len(proof.diagonal)} for {n} nodes")
    if n > MOST_MATRIX:
        raise ValueError(f"nodes: {n}, expected at most {MOST_MATRIX}")
    trained = set(instance.train_nodes)
    is_trained = np.array([int(v in trained) for v in nodes], dtype=object)
    matrix = np.zeros((n, n), dtype=object)
    at = {v: i for i, v in enumerate(nodes)}
    reduced, worth = priced(instance, proof.cuts, proof.prices, proof.unit)
    for (a, b), w in reduced.items():
        if a in at and b in at:
            i, j = at[a], at[b]
            matrix[i, j] -= w
            matrix[j, i] -= w
            matrix[i, i] += w
            matrix[j, j] += w
        else:
            worth += min(0, w)
    matrix += proof.train_price * np.outer(is_trained, is_trained) + proof.node_price
    matrix[np.arange(n), np.arange(n)] += np.array(proof.diagonal, dtype=object)
    if not is_positive_semidefinite(matrix):
        return None
    k, r = instance.used_parts, int(is_trained.sum())
    train_slack = largest_square_sum(r, instance.train_cap) - Fraction(r * r, k)
    node_slack = largest_square_sum(n, instance.node_cap) - Fraction(n * n, k)
    doubled = (
        -(1 - Fraction(1, k)) * sum(proof.diagonal)
        - proof.train_price * train_slack
        - proof.node_price * node_slack
    )
    return (doubled + 2 * worth) / (2 * proof.unit)


def is_positive_semidefinite(matrix: np.ndarray) -> bool:
    """Return True if a symmetric matrix of integers is proved positive semidefinite.

    The matrix is scaled to `MATRIX_BITS` bits, rounded down, and a triangular R of whole numbers is
    found column by column with :math:`R R^T` just below it. What is left has to be diagonally
    dominant with room for the rounding. Matrices that are singular, or nearly so, are not proved.
    """
    n = len(matrix)
    if n == 0:
        return True
    most = max(int(x) for x in np.diagonal(matrix))
    if most <= 0 or any(int(x) < 0 for x in np.diagonal(matrix)):
        return bool(most == 0 and not matrix.any())
    shift = MATRIX_BITS - most.bit_length()
    scaled = matrix * (1 << shift) if shift >= 0 else matrix // (1 << -shift)
    # A positive semidefinite matrix has no entry above its largest diagonal one.
    if max(abs(int(x)) for x in scaled.flat) > 1 << MATRIX_BITS:
        return False
    m = scaled.astype(np.int64)
    slack = n << (MATRIX_BITS // 2 + 1)
    factor = _factor_below(m, slack)
    if factor is None:
        return False
    rest = m - factor @ factor.T
    diagonal = np.diagonal(rest).copy()
    np.fill_diagonal(rest, 0)
    return bool((diagonal > np.abs(rest).sum(axis=1) + n + 1).all())


def _factor_below(m: Ints, slack: int) -> Ints | None:
    """Return a whole triangular factor of a matrix less a slack on its diagonal, or None."""
    n = len(m)
    factor = np.zeros_like(m)
    left = np.diagonal(m) - slack  # of the diagonal, what the columns so far have not used
    for j in range(n):
        if left[j] <= 0:
            return None
        root = math.isqrt(int(left[j]))
        # By Cauchy and Schwarz no sum below exceeds the diagonal, as `left` stays positive.
        column = m[j + 1 :, j] - factor[j + 1 :, :j] @ factor[j, :j]
        if len(column) and int(np.abs(column).max()) // root >= 1 << 31:
            return None
        factor[j, j] = root
        factor[j + 1 :, j] = column // root
        left[j + 1 :] -= factor[j + 1 :, j] ** 2
        if (left[j + 1 :] < 0).any():
            return None
    return factor
