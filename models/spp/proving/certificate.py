r"""Certificates of lower bounds on the iteration time, and their check in integers and rationals.

* `EvenWork`: :math:`M \sum_l (p^f_l + p^b_l) / \sum_v \sigma_v`. Some stage is busy that long: the
  stages' busy times, weighted by the speeds of their GPUs, add up to all the work.
* `Plans`: no plan has a shorter schedule than a number of seconds. The check searches all plans
  again, without a solver: below that number the head-load-tail bounds of all plans by labels, then
  plan by plan the one-machine bound. What it returns is what the search proves, however large the
  number that is claimed.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.all_plans.plan_certificate import proved_makespan_s
from gadgetopt.system.data import Certificate, Data, Rational

from ..instance import SppInstance
from ..work import even_work_s


class EvenWork(Data):
    """All work spread evenly over all GPUs."""

    kind: Literal["even_work"] = "even_work"


class Plans(Data):
    """A search over all plans.

    Attributes
    ----------
    bound_s : Fraction
        Seconds below which there is claimed to be no iteration.
    """

    kind: Literal["plans"] = "plans"
    bound_s: Rational


class SppCertificate(Certificate):
    """A proof of a lower bound."""

    proof: Annotated[EvenWork | Plans, Field(discriminator="kind")]


def check_bound(instance: SppInstance, certificate: SppCertificate) -> Fraction | None:
    """Return the lower bound in seconds that a certificate proves; None if it proves none.

    Raises
    ------
    ValueError
        If the bound is negative, or the GPUs are too many for a search over all plans.
    """
    proof = certificate.proof
    if isinstance(proof, EvenWork):
        return even_work_s(instance)
    if proof.bound_s < 0:
        raise ValueError(f"proof.bound_s: {proof.bound_s} is negative")
    try:
        return proved_makespan_s(instance, proof.bound_s)
    except ModelRefused as refusal:
        raise ValueError(f"proof.bound_s: cannot be checked: {refusal}") from refusal
