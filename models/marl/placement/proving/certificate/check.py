r"""Certificates of lower bounds on the mean job completion time, and their check in exact numbers.

* `alone`: every job alone. An iteration takes :math:`t^0_j`, and
  :math:`\beta^{rack}_j` more if no server holds all tasks, :math:`\beta^{cross}_j` more if no
  rack does.
* `prices`: any prices :math:`\pi_j(k)` of k tasks of job j in one server prove

  .. math::
      \frac{1}{|J|} \Bigl(\sum_j W_j t^0_j + \sum_j \min_{k_1 + k_2 + \dots = n_j}
      \bigl(\pi_j(k_1) + \pi_j(k_2) + \dots\bigr)
      - \sum_s \max\bigl(0, \max_P \sum_j \pi_j(P_j) - c_s(P)\bigr)\Bigr),

  as a placement is a content P of every server, and costs no less than :math:`\sum_s c(P_s)`
  (`proving/terms.py`). A number in place of a table is the price of one task. What a server's
  content can be worth is computed by the check itself
  (`price_checks.py`). The duals of the configuration program make the strongest such proof.
* `closing`: the same for a target above what prices prove. Contents that are worth too little are
  in no placement that costs less than the target; over the others a tree bounds the integer program
  (`closing_checks.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from gadgetopt.numbers.exact import common_denominator
from gadgetopt.proofs.files import unpacked
from gadgetopt.proofs.tree_kernel import proved
from gadgetopt.search.checked import checked_once
from gadgetopt.system.data import Certificate, Data, Rational

from ....subproblems.cluster import forced_comm_s
from ...instance import PlacementInstance
from .closing import closing
from .prices import Price, numbers_of, priced

#: Prices this near to a fraction with a denominator of at most `SIMPLE` become it; others are
#: rounded to `DIGITS` digits. Any prices prove a bound, if not the same.
#: Tuned: `benchmarks/constants.py`.
SIMPLE, NEAR, DIGITS = 10**4, Fraction(1, 10**9), 12


def _kind_of_price(value: object) -> str:
    return "table" if isinstance(value, list | tuple) else "number"


#: The price of a task, or the prices of 1, 2, ... tasks.
_Prices = Annotated[
    Annotated[Rational, Tag("number")] | Annotated[tuple[Rational, ...], Tag("table")],
    Discriminator(_kind_of_price),
]


class Alone(Data):
    """Every job alone."""

    kind: Literal["alone"] = "alone"


class Prices(Data):
    """Prices in seconds of every job, of a task or of 1, 2, ... tasks; they may be negative."""

    kind: Literal["prices"] = "prices"
    prices: tuple[_Prices, ...]


class Closing(Data):
    """A tree over the contents that prices leave.

    Attributes
    ----------
    prices : tuple of Rational or of tuples of them, shape (jobs,)
        In seconds of a task, or of 1, 2, ... tasks in a server.
    target_s : Rational
        The sum of completion times from which on contents are left out.
    folded : bool
        True if racks are left out of the program.
    proof : str
        The compressed text of the tree.
    """

    kind: Literal["closing"] = "closing"
    prices: tuple[_Prices, ...]
    target_s: Rational
    folded: bool
    proof: str


class PlacementCertificate(Certificate):
    """A proof of a lower bound."""

    proof: Annotated[Alone | Prices | Closing, Field(discriminator="kind")]


@checked_once
def check_bound(instance: PlacementInstance, certificate: PlacementCertificate) -> Fraction | None:
    """Return the lower bound in seconds that a certificate proves.

    Raises
    ------
    ValueError
        If there is not a price for every job, the tree is none, or the check would take too long.
    """
    if isinstance(certificate.proof, Alone):
        return alone_bound(instance)
    if isinstance(certificate.proof, Closing):
        return closing_bound(instance, certificate.proof)
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


def priced_bound(instance: PlacementInstance, prices: Sequence[Price]) -> Fraction:
    """Return the bound that prices prove.

    Raises
    ------
    ValueError
        If there is not a price for every job, or the check would take too long.
    """
    total, _ = priced(instance, prices)
    return total / max(1, len(instance.jobs))


def closing_bound(instance: PlacementInstance, proof: Closing) -> Fraction:
    """Return the bound that a tree over the contents that prices leave proves.

    Raises
    ------
    ValueError
        If there is not a price for every job, the tree is none, or the check would take too long.
    """
    common_denominator([*numbers_of(proof.prices), proof.target_s])
    model, least_s = closing(instance, proof.prices, proof.target_s, folded=proof.folded)
    try:
        least = proved(model, unpacked(proof.proof))
    except ValueError as error:
        raise ValueError(f"proof: {str(error).removeprefix('proof: ')}") from None
    # Where the program has no placement, all of them reach the target.
    tree_s = proof.target_s if least is None else model.bound(least)
    total = max(least_s, min(proof.target_s, tree_s))
    return total / max(1, len(instance.jobs))


def certificate_of(price: Sequence[float | tuple[float, ...]]) -> PlacementCertificate:
    """Return the certificate that prices of every job's tasks make."""
    return PlacementCertificate(proof=Prices(prices=prices_of(price)))


def prices_of(price: Sequence[float | tuple[float, ...]]) -> tuple[Price, ...]:
    """Return prices of every job's tasks as simple fractions."""
    known: dict[float, Fraction] = {}

    def fraction(x: float) -> Fraction:
        if x not in known:
            simple = Fraction(x).limit_denominator(SIMPLE)
            near = abs(simple - Fraction(x)) <= Fraction(abs(x)) * NEAR
            known[x] = simple if near else Fraction(f"{x:.{DIGITS}g}")
        return known[x]

    return tuple(tuple(map(fraction, x)) if isinstance(x, tuple) else fraction(x) for x in price)
