"""Heaviest nodes first, and the size of a model."""

from __future__ import annotations

from gadgetopt.errors import ModelRefused

from ..instance import BglPartitionInstance

#: Terms of a model: pairs times parts, and nodes times parts. Tuned: `benchmarks/constants.py`.
MOST_TERMS = 400_000


def check_size(instance: BglPartitionInstance) -> None:
    """Refuse a model that would be too large.

    Raises
    ------
    ModelRefused
        If pairs and nodes, times parts, exceed `MOST_TERMS`.
    """
    terms = (len(instance.pair_weights) + instance.num_nodes) * instance.used_parts
    if terms > MOST_TERMS:
        raise ModelRefused(
            f"{len(instance.pair_weights)} pairs and {instance.num_nodes} nodes times "
            f"{instance.used_parts} parts are {terms}, expected at most {MOST_TERMS}"
        )


def heaviest_first(instance: BglPartitionInstance) -> list[int]:
    """Return the nodes by the sum of their weights, largest first, equal ones by number."""
    weights = instance.pair_weights
    total = [0] * instance.num_nodes
    for a, b, w in zip(
        weights.first.tolist(), weights.second.tolist(), weights.scaled.tolist(), strict=True
    ):
        total[a] += w
        total[b] += w
    return sorted(range(instance.num_nodes), key=lambda v: (-total[v], v))


def forbidden(instance: BglPartitionInstance) -> list[tuple[int, int]]:
    """Return which nodes may not use which parts: the r-th heaviest uses none beyond part r."""
    k = instance.used_parts
    return [(v, i) for r, v in enumerate(heaviest_first(instance)[:k]) for i in range(r + 1, k)]
