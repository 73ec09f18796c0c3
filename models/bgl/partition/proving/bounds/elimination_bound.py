"""The bound of an elimination with a limited number of partial partitions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import BglPartitionInstance
from ..certificate import check as certificates
from ..elimination import (
    Eliminated,
    Elimination,
)
from ..elimination_order import narrow_order
from ..terms import terms_of


def elimination_bound(
    instance: BglPartitionInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    most_states: int = 100_000,
) -> MethodOutcome:
    """Return the bound of an elimination; where it forgets nothing, that is the optimum up to C.

    Parameters
    ----------
    instance : BglPartitionInstance
    limits : Limits
    rng : numpy.random.Generator
        Not used: nothing is drawn.
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
