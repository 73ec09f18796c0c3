r"""Certificates of lower bounds on the slowest stage, and their check in rationals.

* `Threshold`: no allocation of whole shares is faster than :math:`\theta`. To be faster, a stage of
  work T needs more than :math:`T / \theta` cores, so at least
  :math:`\lfloor T / \theta \rfloor + 1`. With these, the shares that are left for the cache are the
  most that there can be; if they do not suffice, nothing does.
* `Continuous`: the same of shares that need not be whole but at least 1, more than
  :math:`T / \theta`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from gadgetopt.search.checked import checked_once
from gadgetopt.system.data import Certificate, Data, Rational

from ..instance import ResourcesInstance


class Threshold(Data):
    """No whole shares make the slowest stage faster than this."""

    kind: Literal["threshold"] = "threshold"
    theta_s: Rational


class Continuous(Data):
    """No shares, whole or not, make the slowest stage faster than this."""

    kind: Literal["continuous"] = "continuous"
    theta_s: Rational


class ResourcesCertificate(Certificate):
    """A proof of a lower bound."""

    proof: Annotated[Threshold | Continuous, Field(discriminator="kind")]


@checked_once
def check_bound(instance: ResourcesInstance, certificate: ResourcesCertificate) -> Fraction | None:
    """Return the lower bound in seconds that a certificate proves; None if it proves none."""
    proof = certificate.proof
    theta = proof.theta_s
    if theta <= instance.fixed_s:
        return theta
    whole = isinstance(proof, Threshold)
    request, construct, process, subgraph = (
        _least(work, theta, whole)
        for work in (
            instance.request_core_s,
            instance.construct_core_s,
            instance.process_core_s,
            instance.subgraph_unit_s,
        )
    )
    cores = instance.worker_cores - process
    units = instance.pcie_units - subgraph
    proved = (
        request + construct > instance.store_cores
        or cores < 1
        or units < 1
        or instance.cache_core_s / cores + instance.cache_floor_s + instance.feature_unit_s / units
        >= theta
    )
    return theta if proved else None


def _least(work: Fraction, theta: Fraction, whole: bool) -> Fraction:
    """Return a share that no stage faster than theta has less than."""
    share = work / theta
    return Fraction(share.__floor__() + 1) if whole else max(Fraction(1), share)
