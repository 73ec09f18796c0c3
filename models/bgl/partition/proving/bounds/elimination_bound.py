"""The bound of an elimination with a limited number of partial partitions."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import BglPartitionInstance
from ..certificate import check as certificates
from ..elimination import (
    Eliminated,
    Elimination,
)
from ..elimination_order import narrow_order
from ..terms import terms_of


@method(
    kind="relaxation",
    reference="this project, after Dechter's mini-buckets 1997",
    formulation="elimination",
)
def elimination_bound(
    instance: BglPartitionInstance,
    limits: Limits,
    *,
    most_states: int = 100_000,
) -> MethodOutcome:
    """Elimination that forgets frontier nodes where partial partitions are too many.

    Parameters
    ----------
    instance : BglPartitionInstance
    limits : Limits
    most_states : int, default 100,000
        Partial partitions kept in a step; where there are more, frontier nodes are forgotten.

    References
    ----------
    R. Dechter, "Mini-buckets: a general scheme for generating approximations in automated
    reasoning", IJCAI 1997, 1297-1302, bounds an elimination in this way.
    """
    clock = Clock(limits)
    terms = terms_of(instance)
    order = narrow_order(terms, lambda: clock.expired)
    most = int(instance.pair_weights.scaled.sum()) + 1
    run = Elimination(terms, order, most).run(most_states, stop=lambda: clock.expired)
    if not run.finished:
        return MethodOutcome(limit_hit="time_s")
    return MethodOutcome(
        certificate=certificate_of(order, run),
        notes={"partial partitions": run.most_states},
    )


def certificate_of(
    order: list[int],
    run: Eliminated,
    at_least: Fraction | None = None,
    *,
    placed: bool = False,
) -> certificates.BglPartitionCertificate:
    """Return the certificate of a run."""
    proof = certificates.Elimination(
        order=tuple(order),
        forgotten=run.forgotten if any(run.forgotten) else (),
        at_least=at_least,
        placed=placed,
    )
    return certificates.BglPartitionCertificate(proof=proof)
