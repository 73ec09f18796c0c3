r"""Linear inequalities that every partition satisfies, and trees of bounds that follow from them.

For a pair of nodes let :math:`d_{ab} = 1` if they lie in different parts, else 0, whether the pair
has weight or not. Every kind of cut is an inequality :math:`\sum a_{ab} d_{ab} \ge b`:

* `Cycle`: along a closed walk of different nodes, of which the steps F lead to `far` nodes,

  .. math:: \sum_{C \setminus F} d - \sum_F d \ge 1 - |F|.

  With two parts \|F\| is odd (a closed walk changes sides an even number of times; Barahona and
  Mahjoub 1986); with more it is 1 (who stays where it is all the way has not left).
* `Tree`: the part of the root has at most so many of the nodes, and who is there, or else some step
  on the way is cut: :math:`\sum_v \sum_{e \in P_v} d_e \ge |S| - \mathrm{cap}`, S being the nodes
  that count (Ferreira et al. 1996 have knapsack tree inequalities; Even et al. 1999 metrics that
  spread).
* `AtMost`: the other parts have at most :math:`(k - 1)\,\mathrm{cap}` of m nodes,
  :math:`-\sum_v d_{rv} \ge -\min(m, (k - 1)\,\mathrm{cap})`.
* `Star`: of its neighbours W, a node is with those of one part only,
  :math:`\sum_{v \in W} d_{rv} - \sum_{uv \subseteq W} d_{uv} \ge |W| - 1 - \binom{|W|}{2}`
  (Groetschel and Wakabayashi 1990).
* `Clique`: so many nodes make at least so many cut pairs, as a part holds `cap` of them.

Weights less prices times cuts are *reduced* weights r; what is cut is at least what the cuts are
worth, and :math:`\min(0, r)` for every pair. In a *tree* of cases each branch asks whether a pair
is cut, and the least of the leaves is the bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Literal

from pydantic import Field

from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.system.data import Data, NonNegativeInt, PositiveInt

from ...instance import BglPartitionInstance

Pair = tuple[int, int]
Nodes = Annotated[tuple[NonNegativeInt, ...], Field(min_length=2)]

#: Coefficients of all cuts of a certificate, and prices of all leaves.
MOST_COEFFICIENTS, MOST_PRICES = MOST_CELLS, MOST_CELLS


class Cycle(Data):
    """A closed walk; step s leads from `nodes[s]` to the next, the last one back to the first."""

    kind: Literal["cycle"] = "cycle"
    nodes: Annotated[tuple[NonNegativeInt, ...], Field(min_length=3)]
    far: tuple[NonNegativeInt, ...]


class Tree(Data):
    """A root, `nodes[0]`, and nodes whose parents, as positions in `nodes`, come before them.

    `trained`: training nodes count, against their cap; else all nodes do.
    """

    kind: Literal["tree"] = "tree"
    nodes: Nodes
    parents: tuple[NonNegativeInt, ...]
    trained: bool = True


class AtMost(Data):
    """A node, `nodes[0]`, and others that are not all apart from it."""

    kind: Literal["at_most"] = "at_most"
    nodes: Nodes
    trained: bool = True


class Star(Data):
    """A node, `nodes[0]`, and neighbours."""

    kind: Literal["star"] = "star"
    nodes: Nodes


class Clique(Data):
    """Nodes that do not fit into one part."""

    kind: Literal["clique"] = "clique"
    nodes: Nodes
    trained: bool = True


Cut = Annotated[Cycle | Tree | AtMost | Star | Clique, Field(discriminator="kind")]


class Branch(Data):
    """A pair of nodes; the case that they are together, and that they are apart, come later."""

    kind: Literal["branch"] = "branch"
    pair: tuple[NonNegativeInt, NonNegativeInt]
    together: PositiveInt
    apart: PositiveInt


class Leaf(Data):
    """Prices of cuts; `empty` says that they prove the case impossible, whatever the weights."""

    kind: Literal["leaf"] = "leaf"
    cuts: tuple[NonNegativeInt, ...] = ()
    prices: tuple[NonNegativeInt, ...] = ()
    empty: bool = False


class Cuts(Data):
    """Cuts, and a tree of cases, the first one all of it; prices are in scaled weights / `unit`."""

    kind: Literal["cuts"] = "cuts"
    cuts: tuple[Cut, ...]
    tree: Annotated[
        tuple[Annotated[Branch | Leaf, Field(discriminator="kind")], ...], Field(min_length=1)
    ]
    unit: Annotated[int, Field(gt=0, le=2**62)] = 1


@dataclass(frozen=True)
class Inequality:
    """Coefficients of pairs, smaller node first, and the right-hand side of >=."""

    of_pair: Mapping[Pair, int]
    least: int


@dataclass(frozen=True)
class Caps:
    """What cuts need to know of an instance."""

    num_nodes: int
    parts: int
    node_cap: int
    train_cap: int
    trained: frozenset[int]

    @classmethod
    def of(cls, instance: BglPartitionInstance) -> Caps:
        """Return those of an instance."""
        return cls(
            instance.num_nodes,
            instance.used_parts,
            instance.node_cap,
            instance.train_cap,
            frozenset(instance.train_nodes),
        )

    def inequality(self, cut: Cycle | Tree | AtMost | Star | Clique) -> Inequality:
        """Return a cut's inequality.

        Raises
        ------
        ValueError
            If it is none that all partitions satisfy.
        """
        nodes = cut.nodes
        if len(set(nodes)) < len(nodes) or max(nodes) >= self.num_nodes:
            raise ValueError(f"{cut.kind} of {nodes[0]}: expected different nodes of the graph")
        if isinstance(cut, Cycle):
            return self._cycle(cut)
        if isinstance(cut, Star):
            rays = {pair(nodes[0], v): 1 for v in nodes[1:]}
            between = {pair(u, v): -1 for u, v in combinations(nodes[1:], 2)}
            return Inequality(rays | between, len(rays) - 1 - len(between))
        cap = self.train_cap if cut.trained else self.node_cap
        if isinstance(cut, Tree):
            return self._tree(cut, cap)
        if cut.trained and not self.trained.issuperset(nodes):
            raise ValueError(f"{cut.kind} of {nodes[0]}: expected training nodes only")
        if isinstance(cut, AtMost):
            most = min(len(nodes) - 1, (self.parts - 1) * cap)
            return Inequality({pair(nodes[0], v): -1 for v in nodes[1:]}, -most)
        full, rest = divmod(len(nodes), cap)
        together = full * (cap * (cap - 1) // 2) + rest * (rest - 1) // 2
        pairs = {pair(u, v): 1 for u, v in combinations(nodes, 2)}
        return Inequality(pairs, len(pairs) - together)

    def _cycle(self, cut: Cycle) -> Inequality:
        far, steps = set(cut.far), len(cut.nodes)
        if len(far) < len(cut.far) or any(s >= steps for s in far):
            raise ValueError(f"cycle of {cut.nodes[0]}: expected different steps in far")
        if len(far) % 2 == 0 or (self.parts > 2 and len(far) > 1):
            raise ValueError(
                f"cycle of {cut.nodes[0]}: {len(far)} far steps, expected "
                + ("an odd number" if self.parts == 2 else "1 with more than two parts")
            )
        ends = zip(cut.nodes, (*cut.nodes[1:], cut.nodes[0]), strict=True)
        of_pair = {pair(a, b): -1 if s in far else 1 for s, (a, b) in enumerate(ends)}
        return Inequality(of_pair, 1 - len(far))

    def _tree(self, cut: Tree, cap: int) -> Inequality:
        nodes, parents = cut.nodes, cut.parents
        if len(parents) != len(nodes) - 1 or any(p > i for i, p in enumerate(parents)):
            raise ValueError(f"tree of {nodes[0]}: expected a parent before every other node")
        below = [int(not cut.trained or v in self.trained) for v in nodes]
        count = sum(below)
        of_pair = {}
        for i in range(len(nodes) - 1, 0, -1):
            if below[i]:
                of_pair[pair(nodes[parents[i - 1]], nodes[i])] = below[i]
            below[parents[i - 1]] += below[i]
        return Inequality(of_pair, count - cap)


def pair(a: int, b: int) -> Pair:
    """Return two nodes, the smaller first."""
    return (a, b) if a < b else (b, a)


def weights_of(instance: BglPartitionInstance) -> dict[Pair, int]:
    """Return the scaled weight of every pair."""
    weights = instance.pair_weights
    ends = zip(weights.first.tolist(), weights.second.tolist(), strict=True)
    return dict(zip(ends, weights.scaled.tolist(), strict=True))


def reduce_weights(
    weights: Mapping[Pair, int],
    cuts: Sequence[Inequality],
    leaf: Leaf,
    unit: int,
) -> tuple[dict[Pair, int], int]:
    """Return the weights less prices times cuts, and what the cuts are worth, both over `unit`."""
    reduced = {} if leaf.empty else {p: w * unit for p, w in weights.items()}
    worth = 0
    for c, price in zip(leaf.cuts, leaf.prices, strict=True):
        worth += price * cuts[c].least
        for p, a in cuts[c].of_pair.items():
            reduced[p] = reduced.get(p, 0) - price * a
    return reduced, worth


def leaf_bound(
    weights: Mapping[Pair, int],
    cuts: Sequence[Inequality],
    leaf: Leaf,
    unit: int,
    fixed: Mapping[Pair, int],
) -> int:
    """Return the bound of a leaf in a case, over `unit`."""
    reduced, worth = reduce_weights(weights, cuts, leaf, unit)
    free = sum(min(0, r) for p, r in reduced.items() if p not in fixed)
    return worth + free + sum(reduced.get(p, 0) for p, apart in fixed.items() if apart)


def inequalities(instance: BglPartitionInstance, cuts: Sequence[Cut]) -> list[Inequality]:
    """Return the inequalities of cuts.

    Raises
    ------
    ValueError
        If a cut is none, or they are too long.
    """
    size = sum(len(c.nodes) ** (2 if isinstance(c, Star | Clique) else 1) for c in cuts)
    if size > MOST_COEFFICIENTS:
        raise ValueError(f"cuts: more than {MOST_COEFFICIENTS} coefficients")
    caps = Caps.of(instance)
    return [caps.inequality(cut) for cut in cuts]


def tree_bound(instance: BglPartitionInstance, proof: Cuts) -> int | None:
    """Return the bound of a tree of cases, over its unit; None if a leaf proves nothing.

    Raises
    ------
    ValueError
        If a cut is none, the tree is none, or it is too large.
    """
    cuts, weights = inequalities(instance, proof.cuts), weights_of(instance)
    longest = max((len(c.of_pair) for c in cuts), default=0)
    work = 0
    leaves: list[int] = []
    seen = 0
    todo: list[tuple[int, dict[Pair, int]]] = [(0, {})]
    while todo:
        at, fixed = todo.pop()
        seen += 1
        node = proof.tree[at]
        if isinstance(node, Branch):
            asked = pair(*node.pair)
            if not at < min(node.together, node.apart) or node.together == node.apart:
                raise ValueError(f"tree[{at}]: expected two different later cases")
            if max(node.together, node.apart) >= len(proof.tree) or seen > len(proof.tree):
                raise ValueError(f"tree[{at}]: expected cases of the tree, each once")
            if asked[0] == asked[1] or asked in fixed:
                raise ValueError(f"tree[{at}]: expected a pair that is not decided yet")
            todo += [(node.together, fixed | {asked: 0}), (node.apart, fixed | {asked: 1})]
            continue
        if len(node.prices) != len(node.cuts) or any(c >= len(cuts) for c in node.cuts):
            raise ValueError(f"tree[{at}]: expected a price for each of its cuts")
        work += len(weights) + len(node.cuts) * min(longest, 64)
        if work > 10 * MOST_PRICES:
            raise ValueError("tree: too many prices")
        bound = leaf_bound(weights, cuts, node, proof.unit, fixed)
        if not node.empty:
            leaves.append(bound)
        elif bound <= 0:
            return None
    if not leaves:
        raise ValueError("tree: every case would be impossible")
    return min(leaves)
