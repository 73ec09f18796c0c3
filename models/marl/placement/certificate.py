r"""Certificates of lower bounds on the mean job completion time, and their check in exact numbers.

* `alone`: every job alone. An iteration takes :math:`t^0_j`, and
  :math:`\beta^{rack}_j` more if no server holds all tasks, :math:`\beta^{cross}_j` more if no
  rack does.
* `prices`: any prices :math:`\pi_j` of the tasks of job j prove

  .. math::
      \frac{1}{|J|} \Bigl(\sum_j W_j t^0_j + \sum_j n_j \pi_j
      - \sum_s \max\bigl(0, \max_P \sum_j \pi_j P_j - c_s(P)\bigr)\Bigr),

  as a placement is a content P of every server, and costs no less than :math:`\sum_s c(P_s)`
  (`subproblems/terms.py`). What a server's content can be worth is computed by the check itself
  (`price_checks.py`). The duals of the configuration program make the strongest such proof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from gadgetopt.numbers.exact import common_denominator
from gadgetopt.system.data import Certificate, Data, Rational

from ..subproblems.cluster import forced_comm_s
from .instance import PlacementInstance
from .price_checks import PricedContents

#: Prices this near to a fraction with a denominator of at most `SIMPLE` become it; others are
#: rounded to `DIGITS` digits. Any prices prove a bound, if not the same.
SIMPLE, NEAR, DIGITS = 10**4, Fraction(1, 10**9), 12


class Alone(Data):
    """Every job alone."""

    kind: Literal["alone"] = "alone"


class Prices(Data):
    """Prices in seconds of a task of every job; they may be negative."""

    kind: Literal["prices"] = "prices"
    prices: tuple[Rational, ...]


class PlacementCertificate(Certificate):
    """A proof of a lower bound."""

    proof: Annotated[Alone | Prices, Field(discriminator="kind")]


def check_bound(instance: PlacementInstance, certificate: PlacementCertificate) -> Fraction | None:
    """Return the lower bound in seconds that a certificate proves.

    Raises
    ------
    ValueError
        If there is not a price for every job, or the check would take too long.
    """
    if isinstance(certificate.proof, Alone):
        return alone_bound(instance)
    return priced_bound(instance, certificate.proof.prices)


def alone_bound(instance: PlacementInstance) -> Fraction:
    """Return the mean completion time of jobs that nobody disturbs."""
    if not instance.jobs:
        return Fraction(0)
    classes = {server: len(members) for server, members in instance.server_classes.items()}
    total = Fraction(0)
    for job in instance.jobs:
        total += job.iterations * (job.base_iteration_s + forced_comm_s(job, classes))
    return total / len(instance.jobs)


def priced_bound(instance: PlacementInstance, prices: tuple[Fraction, ...]) -> Fraction:
    """Return the bound that prices prove.

    Raises
    ------
    ValueError
        If there is not a price for every job, or the check would take too long.
    """
    if len(prices) != len(instance.jobs):
        raise ValueError(f"prices: {len(prices)} for {len(instance.jobs)} jobs")
    if not prices:
        return Fraction(0)
    common_denominator(prices)
    contents = PricedContents(instance, prices)
    total = sum(
        (
            job.iterations * job.base_iteration_s + job.num_tasks * price
            for job, price in zip(instance.jobs, prices, strict=True)
        ),
        Fraction(0),
    )
    sizes = Counter((server.gpus, server.cpus) for server in instance.servers)
    for (gpus, cpus), servers in sizes.items():
        total -= servers * contents.most(gpus, cpus)
    return total / len(instance.jobs)


def certificate_of(price: Sequence[float]) -> PlacementCertificate:
    """Return the certificate that prices of every job's tasks make, as simple fractions."""
    known: dict[float, Fraction] = {}
    for x in price:
        if x not in known:
            simple = Fraction(x).limit_denominator(SIMPLE)
            near = abs(simple - Fraction(x)) <= Fraction(abs(x)) * NEAR
            known[x] = simple if near else Fraction(f"{x:.{DIGITS}g}")
    return PlacementCertificate(proof=Prices(prices=tuple(known[x] for x in price)))
