r"""Certificates of lower bounds on the iteration time, and their check in integers and rationals.

* `EvenWork`: :math:`M \sum_l (p^f_l + p^b_l) / \sum_v \sigma_v`. Some stage is busy that long: the
  stages' busy times, weighted by the speeds of their GPUs, add up to all the work.
* `Plans`: no plan has a shorter schedule than a number of seconds. The check goes through all plans
  (`gadgetopt.pieces.pipeline.all_plans.proofs`), with no function of the searches, and returns what
  it finds, however large the number that is claimed.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.all_plans.proofs.every_plan import proved_makespan_s
from gadgetopt.pieces.pipeline.all_plans.proofs.orders import OrderProof
from gadgetopt.system.data import Certificate, Data, Rational

from ..instance import SppInstance


class EvenWork(Data):
    """All work spread evenly over all GPUs."""

    kind: Literal["even_work"] = "even_work"


class Plans(Data):
    """A way through all plans.

    Attributes
    ----------
    bound_s : Fraction
        Seconds below which there is claimed to be no iteration.
    orders : tuple of OrderProof
        That plans of some times have no shorter schedule.
    """

    kind: Literal["plans"] = "plans"
    bound_s: Rational
    orders: tuple[OrderProof, ...] = ()


class SppCertificate(Certificate):
    """A proof of a lower bound; its check gives up where plans or orders are too many."""

    may_prove_less: ClassVar[bool] = True

    proof: Annotated[EvenWork | Plans, Field(discriminator="kind")]


def check_bound(instance: SppInstance, certificate: SppCertificate) -> Fraction | None:
    """Return the lower bound in seconds that a certificate proves; None if it proves none.

    Raises
    ------
    ValueError
        If the bound is negative, the plans are too many, or a proof about orders is none.
    """
    proof = certificate.proof
    if isinstance(proof, EvenWork):
        return _even_work_s(instance)
    if proof.bound_s < 0:
        raise ValueError(f"proof.bound_s: {proof.bound_s} is negative")
    try:
        return proved_makespan_s(instance, proof.bound_s, proof.orders)
    except ModelRefused as refusal:
        raise ValueError(f"proof.bound_s: cannot be checked: {refusal}") from refusal


def _even_work_s(instance: SppInstance) -> Fraction:
    """Return all work of an iteration over the speed of all GPUs."""
    chain, work = instance.chain, Fraction(0)
    for f, b in zip(chain.fwd_s, chain.bwd_s, strict=True):
        work += b + (2 * f if instance.options.recompute else f)
    return instance.num_microbatches * work / sum(instance.cluster.gpu_speeds, Fraction(0))
