"""Streaming partitions: each node comes once, with its neighbours, and stays where it is put."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..instance import BglPartitionInstance, BglPartitionSolution
from ..subproblems.balance import balanced
from .simple import is_trained

Order = Literal["random", "given"]


@method(kind="baseline", reference="Stanton and Kliot 2012")
def ldg(
    instance: BglPartitionInstance,
    rng: np.random.Generator,
    *,
    order: Order = "random",
) -> MethodOutcome:
    r"""Linear deterministic greedy: nodes stream in, neighbours pull, full parts repel.

    Put each node where :math:`|N(v) \cap P_i| (1 - |P_i| / C)` is largest.

    Ties go to the part of fewer nodes. Parts that are full of nodes, or for a training node of
    training nodes, are left out (ours); what does not fit in the end is moved.

    References
    ----------
    I. Stanton, G. Kliot, "Streaming graph partitioning for large distributed graphs", KDD 2012,
    1222-1230.
    """
    cap = instance.node_cap
    part = _streamed(instance, rng, order, lambda near, load: near * (1 - load / cap))
    return MethodOutcome(solution=BglPartitionSolution.of(part.tolist()))


@method(kind="baseline", reference="Tsourakakis et al. 2014")
def fennel(
    instance: BglPartitionInstance,
    rng: np.random.Generator,
    *,
    order: Order = "random",
    gamma: float = 1.5,
) -> MethodOutcome:
    r"""Nodes stream in; neighbours minus a marginal price of size.

    Put each node where :math:`|N(v) \cap P_i| - \alpha \gamma |P_i|^{\gamma - 1}` is largest.

    :math:`\alpha = |E| k^{\gamma - 1} / n^\gamma`. Full parts are left out as in `ldg`.

    References
    ----------
    C. Tsourakakis, C. Gkantsidis, B. Radunovic, M. Vojnovic, "FENNEL: streaming graph partitioning
    for massive scale graphs", WSDM 2014, 333-342.
    """
    n, k = instance.num_nodes, instance.used_parts
    alpha = len(instance.edges) * k ** (gamma - 1) / n**gamma
    part = _streamed(
        instance, rng, order, lambda near, load: near - alpha * gamma * load ** (gamma - 1)
    )
    return MethodOutcome(solution=BglPartitionSolution.of(part.tolist()))


def _streamed(
    instance: BglPartitionInstance,
    rng: np.random.Generator,
    order: Order,
    score: Callable[[Floats, Floats], Floats],
) -> Ints:
    graph, k = instance.graph, instance.used_parts
    trained = is_trained(instance)
    part = np.full(instance.num_nodes, -1, dtype=np.int64)
    load, train_load = np.zeros(k), np.zeros(k)
    nodes = np.arange(instance.num_nodes) if order == "given" else rng.permutation(len(part))
    for v in nodes.tolist():
        beside = part[graph.heads[graph.starts[v] : graph.starts[v + 1]]]
        near = np.bincount(beside[beside >= 0], minlength=k).astype(float)
        value = score(near, load)
        full = load >= instance.node_cap
        if trained[v]:
            full = full | (train_load >= instance.train_cap)
        value = np.where(full, -np.inf, value)
        best = np.flatnonzero(value == value.max())
        i = int(best[np.argmin(load[best])])
        part[v] = i
        load[i] += 1
        train_load[i] += trained[v]
    nothing = np.zeros((len(part), k))
    return balanced(part, trained, nothing, instance.node_cap, instance.train_cap)
