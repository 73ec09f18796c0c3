r"""The evaluator: expected requests to other servers, recomputed from the graph.

.. math:: \min \sum_{t \in T} \sum_{l=1}^{L-1} \sum_{u \ne t}
    m^{(l)}_t(u)\, [\mathrm{part}(u) \ne \mathrm{part}(t)],

over partitions whose parts have at most C nodes and at most :math:`C_T` training nodes. With the
weights "edge" it is the number of pairs of neighbours that are cut. Exact.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from gadgetopt.system.result import Evaluation, Violation

from .instance import BglPartitionInstance, BglPartitionSolution


def evaluate(instance: BglPartitionInstance, solution: BglPartitionSolution) -> Evaluation:
    """Recompute the cost of a partition, and which constraints it violates.

    Returns
    -------
    Evaluation
        The objective is the cost, a Fraction; None if a node has no part or one that does not
        exist. Components: pairs of neighbours that are cut, the largest loads, and both over their
        means (`node_imbalance`, `train_imbalance`, 1 where all parts are alike).
    """
    violations = tuple(_unknown(instance, solution))
    if violations:
        return Evaluation(None, violations)
    part = solution.part
    nodes = Counter(part)
    trained = Counter(part[t] for t in instance.train_nodes)
    cut_pairs = {(min(e), max(e)) for e in instance.edges if part[e[0]] != part[e[1]]}
    cost = Fraction(len(cut_pairs)) if instance.weights == "edge" else _requests(instance, part)
    k, most, most_trained = instance.num_parts, max(nodes.values()), max(trained.values())
    return Evaluation(
        cost,
        tuple(_overloads(instance, nodes, trained)),
        {
            "cut_pairs": len(cut_pairs),
            "most_nodes": most,
            "most_train_nodes": most_trained,
            "node_imbalance": Fraction(most * k, instance.num_nodes),
            "train_imbalance": Fraction(most_trained * k, len(instance.train_nodes)),
        },
    )


def _requests(instance: BglPartitionInstance, part: tuple[int, ...]) -> Fraction:
    """Return the remote requests of all training nodes, hop by hop."""
    sampled: dict[int, list[int]] = {}
    for u, v in instance.edges:
        sampled.setdefault(u, []).append(v)
        if not instance.directed:
            sampled.setdefault(v, []).append(u)
    remote: Counter[int] = Counter()  # numerators by denominator
    for t in instance.train_nodes:
        multiplicity, whole = {t: 1}, 1  # numerators, and the denominator that all of them have
        for fanout in instance.fanouts[:-1]:
            # What a node sends to every neighbour: a part of its multiplicity, as (above, below).
            share = {u: _share(fanout, len(sampled[u])) for u in multiplicity if u in sampled}
            common = math.lcm(*(below for _, below in share.values()))
            following: dict[int, int] = {}
            for u, (above, below) in share.items():
                sent = multiplicity[u] * above * (common // below)
                for v in sampled[u]:
                    following[v] = following.get(v, 0) + sent
            multiplicity, whole = following, whole * common
            remote[whole] += sum(m for u, m in multiplicity.items() if part[u] != part[t])
    return sum((Fraction(p, d) for d, p in remote.items()), Fraction(0))


def _share(fanout: int, neighbours: int) -> tuple[int, int]:
    """Return the part of a node's neighbours that is sampled, in lowest terms."""
    sampled = min(fanout, neighbours)
    common = math.gcd(sampled, neighbours)
    return sampled // common, neighbours // common


def _unknown(instance: BglPartitionInstance, solution: BglPartitionSolution) -> Iterator[Violation]:
    nodes, assigned = instance.num_nodes, len(solution.part)
    if assigned < nodes:
        yield Violation("unassigned_node", f"part of {nodes} nodes", nodes - assigned)
    if assigned > nodes:
        yield Violation("unknown_node", f"part of {nodes} nodes", assigned - nodes)
    for v, i in enumerate(solution.part):
        if i >= instance.num_parts:
            yield Violation("unknown_part", f"part[{v}]", i - instance.num_parts + 1)


def _overloads(
    instance: BglPartitionInstance, nodes: Counter[int], trained: Counter[int]
) -> Iterator[Violation]:
    for i, count in sorted(nodes.items()):
        if count > instance.node_cap:
            yield Violation("node_cap", f"part {i}", count - instance.node_cap)
    for i, count in sorted(trained.items()):
        if count > instance.train_cap:
            yield Violation("train_cap", f"part {i}", count - instance.train_cap)
