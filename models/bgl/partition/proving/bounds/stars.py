"""The bound by counting: stars that are larger than a part."""

from __future__ import annotations

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ...instance import BglPartitionInstance
from ..certificate.check import (
    BglPartitionCertificate,
    Stars,
)


@method(kind="relaxation", reference="this project", formulation="stars")
def stars(instance: BglPartitionInstance) -> MethodOutcome:
    """The lightest neighbours of nodes with more than fit into a part.

    Return what stars lose that are larger than a part.

    A node of d neighbours with weight loses the d - (C - 1) lightest, and likewise of its training
    neighbours. Every pair is counted in the star of one of its nodes. It is 0 unless parts are
    small.
    """
    return MethodOutcome(certificate=BglPartitionCertificate(proof=Stars()))
