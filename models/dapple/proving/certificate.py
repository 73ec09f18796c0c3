"""Certificates of lower bounds on the iteration time, and their check.

A certificate is a number of seconds, and proofs about the orders of single plans. The check goes
through all plans (`gadgetopt.pieces.pipeline.all_plans.proofs`), with no function of the searches,
and returns what it finds: the claim, or the least bound of a plan, whoever wrote the claim.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.all_plans.proofs.every_plan import proved_makespan_s
from gadgetopt.pieces.pipeline.all_plans.proofs.orders import OrderProof
from gadgetopt.system.data import Certificate, Rational

from ..instance import DappleInstance


class DappleCertificate(Certificate):
    """A lower bound on the iteration time of every plan and order.

    Its check gives up where plans or orders are too many.

    Attributes
    ----------
    makespan_s : Fraction
        What is claimed.
    orders : tuple of OrderProof
        That plans of some times have no shorter schedule.
    """

    may_prove_less: ClassVar[bool] = True

    makespan_s: Rational
    orders: tuple[OrderProof, ...] = ()


def check_bound(instance: DappleInstance, certificate: DappleCertificate) -> Fraction:
    """Return the lower bound in seconds that a certificate proves, at most what it claims.

    Raises
    ------
    ValueError
        If the claim is negative, the plans are too many, or a proof about orders is none.
    """
    if certificate.makespan_s < 0:
        raise ValueError(f"makespan_s: {certificate.makespan_s} is negative")
    try:
        return proved_makespan_s(instance, certificate.makespan_s, certificate.orders)
    except ModelRefused as refusal:
        raise ValueError(f"makespan_s: cannot be checked: {refusal}") from refusal
