"""Certificates of lower bounds on the iteration time, and their check.

A certificate is a number of seconds. The check searches all plans again, in integers and without a
solver, for one whose head, load and tail, or whose one-machine bound, is smaller, and returns what
it proves: the claim, or the least bound of a plan, whoever wrote the claim.
"""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.pieces.pipeline.all_plans.plan_certificate import proved_makespan_s
from gadgetopt.system.data import Certificate, Rational

from ..instance import DappleInstance


class DappleCertificate(Certificate):
    """A lower bound on the iteration time of every plan and order.

    Attributes
    ----------
    makespan_s : Fraction
        What is claimed.
    """

    makespan_s: Rational


def check_bound(instance: DappleInstance, certificate: DappleCertificate) -> Fraction:
    """Return the lower bound in seconds that a certificate proves, at most what it claims.

    Raises
    ------
    ValueError
        If the claim is negative.
    """
    if certificate.makespan_s < 0:
        raise ValueError(f"makespan_s: {certificate.makespan_s} is negative")
    return proved_makespan_s(instance, certificate.makespan_s)
