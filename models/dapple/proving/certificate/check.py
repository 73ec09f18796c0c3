"""Certificates of lower bounds on the iteration time, and their check.

A certificate is a number of seconds, and proofs about the orders of single plans. The check goes
through all plans (`gadgetopt.pieces.pipeline.all_plans.proofs`), with no function of the searches,
and returns what it finds: the claim, or the least bound of a plan, whoever wrote the claim. Where
an instance allows copies of the pipeline, it goes through the outlines of their plans (`copies`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from pydantic import SerializerFunctionWrapHandler, model_serializer

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.all_plans.proofs.every_plan import proved_makespan_s
from gadgetopt.pieces.pipeline.all_plans.proofs.orders import OrderProof
from gadgetopt.system.data import Certificate, Data, PositiveInt, Rational, without

from ...instance import DappleInstance
from .copies import proved_of_copies_s


class CopiesProof(Data):
    """Proofs about the orders of plans of so many copies of the pipeline.

    Attributes
    ----------
    copies : int
    orders : tuple of OrderProof
        For the microbatches of one copy.
    """

    copies: PositiveInt
    orders: tuple[OrderProof, ...]


class DappleCertificate(Certificate):
    """A lower bound on the iteration time of every plan and order.

    Its check gives up where plans or orders are too many.

    Attributes
    ----------
    makespan_s : Fraction
        What is claimed.
    orders : tuple of OrderProof
        That plans of some times have no shorter schedule.
    of_copies : tuple of CopiesProof
        The same of plans of several copies.
    """

    may_prove_less: ClassVar[bool] = True

    makespan_s: Rational
    orders: tuple[OrderProof, ...] = ()
    of_copies: tuple[CopiesProof, ...] = ()

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write no proofs of copies if there are none: files from before stay the same."""
        return without(write(self), self, "of_copies")


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
        proved = proved_makespan_s(instance, certificate.makespan_s, certificate.orders)
        orders = {each.copies: each.orders for each in certificate.of_copies}
        for copies in range(2, min(instance.max_copies, instance.num_gpus) + 1):
            proved = min(
                proved, proved_of_copies_s(instance, copies, proved, orders.get(copies, ()))
            )
        return proved
    except ModelRefused as refusal:
        raise ValueError(f"makespan_s: cannot be checked: {refusal}") from refusal
