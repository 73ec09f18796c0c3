r"""Certificates of upper bounds on the rate, and their check in exact arithmetic.

Every check is a sum, a cut, a minimum arborescence or a cheapest shallow tree in rational numbers;
no linear program is solved. Node numbers are the instance's. The checks, with their proofs, are in
`cuts.py` and `prices.py`, those of restricted trees in `restricted_trees.py`.
"""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.search.checked import checked_once

from ...instance import (
    Bottleneck,
    CutFamily,
    EqualTrees,
    ForestPackingCertificate,
    ForestPackingInstance,
    Partition,
    ShallowPrices,
)
from .cuts import cut_family_bound, partition_bound
from .prices import prices_bound
from .restricted_trees import bottleneck_bound, equal_trees_bound, shallow_prices_bound


@checked_once
def check_bound(
    instance: ForestPackingInstance, certificate: ForestPackingCertificate
) -> Fraction | None:
    """Return the upper bound on the rate, GB/s, that a certificate proves; None if it proves none.

    Notes
    -----
    The bounds of `Partition`, `CutFamily` and `Prices` hold with any restriction of the trees, the
    others with the one they are about. They cover trees whose
    logical arcs run through other workers: every such tree loads the links at least as much as
    some tree whose logical arcs do not.

    Raises
    ------
    ValueError
        If the certificate names nodes, rows or stages that the instance does not have, if parts
        overlap, a part or cut has no worker, or a multiplier or price is negative.
    """
    proof = certificate.proof
    if isinstance(proof, Partition):
        return partition_bound(instance, proof)
    if isinstance(proof, CutFamily):
        return cut_family_bound(instance, proof)
    if isinstance(proof, EqualTrees):
        return equal_trees_bound(instance, proof)
    if isinstance(proof, Bottleneck):
        return bottleneck_bound(instance, proof)
    if isinstance(proof, ShallowPrices):
        return shallow_prices_bound(instance, proof)
    return prices_bound(instance, proof)
