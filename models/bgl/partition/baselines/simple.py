"""Partitions that do not look at the edges."""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..instance import BglPartitionInstance, BglPartitionSolution
from ..subproblems.balance import balanced

#: Knuth's multiplier: the golden ratio of 2^32. By definition.
_MULTIPLIER = 2654435761


@method(kind="baseline", reference="Liu et al. 2023, baseline")
def random(instance: BglPartitionInstance, rng: np.random.Generator) -> MethodOutcome:
    """Training nodes, then the others, dealt in random order."""
    return MethodOutcome(solution=BglPartitionSolution.of(dealt(instance, rng).tolist()))


def dealt(instance: BglPartitionInstance, rng: np.random.Generator) -> Ints:
    """Return parts dealt in turn, training nodes first."""
    trained = is_trained(instance)
    order = np.concatenate(
        [rng.permutation(np.flatnonzero(trained)), rng.permutation(np.flatnonzero(~trained))]
    )
    part = np.empty(instance.num_nodes, dtype=np.int64)
    part[order] = np.arange(instance.num_nodes) % instance.used_parts
    return part


@method(name="hash", kind="baseline", reference="Liu et al. 2023, baseline")
def hash_parts(instance: BglPartitionInstance) -> MethodOutcome:
    """A multiplicative hash of the node's number, loads repaired.

    Give each node the part that a multiplicative hash of its number names; repair the loads.
    """
    k = instance.used_parts
    hashed = (np.arange(instance.num_nodes, dtype=np.uint64) * _MULTIPLIER) % 2**32
    part = ((hashed * k) >> 32).astype(np.int64)
    return MethodOutcome(solution=repaired(instance, part))


def repaired(instance: BglPartitionInstance, part: Ints) -> BglPartitionSolution:
    """Return a partition with its loads within the caps, whatever its edges."""
    nothing = np.zeros((instance.num_nodes, instance.used_parts))
    part = balanced(part, is_trained(instance), nothing, instance.node_cap, instance.train_cap)
    return BglPartitionSolution.of(part.tolist())


def is_trained(instance: BglPartitionInstance) -> np.ndarray:
    """Return which nodes are training nodes."""
    trained = np.zeros(instance.num_nodes, dtype=bool)
    trained[list(instance.train_nodes)] = True
    return trained
