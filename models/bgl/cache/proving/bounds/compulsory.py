"""The compulsory bound: every requested feature is loaded once."""

from __future__ import annotations

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ...instance import CacheInstance
from ..certificate.check import CacheCertificate, Compulsory


@method(kind="relaxation", reference="counting", formulation="compulsory")
def compulsory(instance: CacheInstance) -> MethodOutcome:
    r"""Every requested feature is loaded once.

    Return :math:`c \sum_v w_v` over all requested nodes. O(n).
    """
    return MethodOutcome(certificate=CacheCertificate(proof=Compulsory()))
