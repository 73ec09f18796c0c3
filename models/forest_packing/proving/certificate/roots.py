"""The shares that roots have to have, for the check: read from the instance."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.numbers.tolerance import decimal_rational

from ...instance import ForestPackingInstance


def root_shares(instance: ForestPackingInstance) -> dict[int, Fraction] | None:
    """Return the part of the rate that is rooted at each worker; None where it is free.

    Workers are counted in their order; one that is to have nothing is not listed. `packing` reads
    the same for the search; a test holds the two against each other.
    """
    workers = instance.workers
    if instance.root_mode == "free":
        return None
    if instance.root_mode == "uniform":
        return dict.fromkeys(range(len(workers)), Fraction(1, len(workers)))
    if instance.root_mode == "fixed":
        return {i: Fraction(1) for i, worker in enumerate(workers) if worker == instance.root}
    given = [decimal_rational(share) for share in instance.root_share or ()]
    return {i: share for i, share in enumerate(given) if share}
