"""PaGraph's partition: training nodes, one after the other, with their neighbourhoods."""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import BglPartitionInstance, BglPartitionSolution
from ..subproblems.balance import balanced
from ..subproblems.completion import complete
from ..subproblems.local_search import Weighted


@method(kind="baseline", reference="Lin et al. 2020, recalled")
def pagraph(
    instance: BglPartitionInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    r"""Each training node goes where its neighbourhood has most training nodes.

    Put each training node t, in random order, where the score is largest.

    .. math:: |T(i) \cap N_L(t)| \, \frac{|T|/k - |T(i)|}{|P(i)|},

    :math:`N_L(t)` being the nodes up to L - 1 hops away and :math:`P(i)` all that the training
    nodes of part i reach. Ties go to the part of fewer training nodes. PaGraph keeps copies of
    :math:`P(i)`; here every other node is stored once, at the least cost.

    References
    ----------
    Z. Lin, C. Li, Y. Miao, Y. Liu, Y. Xu, "PaGraph: Scaling GNN Training on Large Graphs via
    Computation-aware Caching", SoCC 2020, 401-415; recalled.
    """
    clock = Clock(limits)
    k, n = instance.used_parts, instance.num_nodes
    hops = max(1, len(instance.fanouts) - 1)
    mean = len(instance.train_nodes) / k
    covered = np.zeros((k, n), dtype=bool)
    train_in = np.zeros((k, n), dtype=bool)
    load = np.zeros(k)
    part_of: dict[int, int] = {}
    for t in rng.permutation(np.array(instance.train_nodes)).tolist():
        near = _within(instance, t, hops)
        common = train_in[:, near].sum(axis=1)
        score = common * (mean - load) / np.maximum(1, covered.sum(axis=1))
        score[load >= instance.train_cap] = -np.inf
        i = min(range(k), key=lambda i: (-score[i], load[i], i))
        part_of[t] = i
        load[i] += 1
        train_in[i, t] = True
        covered[i, near] = True
        if clock.expired:
            break
    part = complete(instance, part_of)
    if part is None:
        weighted = Weighted.of(instance)
        part = np.array([part_of.get(v, v % k) for v in range(n)])
        part = balanced(
            part, weighted.trained, weighted.pull(part), instance.node_cap, instance.train_cap
        )
    return MethodOutcome(
        solution=BglPartitionSolution.of(part.tolist()),
        limit_hit="time_s" if clock.expired else None,
    )


def _within(instance: BglPartitionInstance, t: int, hops: int) -> Ints:
    """Return the nodes up to so many hops from a node, itself included."""
    reached = np.array([t], dtype=np.int64)
    for _ in range(hops):
        reached = np.unique(np.concatenate([reached, instance.graph.neighbours(reached)[0]]))
    return reached
