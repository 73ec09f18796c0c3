"""The bounds: every job alone, and the configuration program's linear relaxation."""

from __future__ import annotations

import contextlib
from fractions import Fraction

from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...instance import PlacementInstance
from ..certificate.check import (
    Alone,
    PlacementCertificate,
    alone_bound,
    certificate_of,
    check_bound,
)
from ..certificate.prices import most_together
from ..terms import Terms
from .column_generation import (
    ColumnGeneration,
    Relaxation,
)


@method(kind="relaxation", reference="alone bound (reconstructed)")
def alone(instance: PlacementInstance) -> MethodOutcome:
    """Every job as if it had the cluster to itself.

    Return the mean completion time of jobs that nobody disturbs.
    """
    return MethodOutcome(
        dual_bound=alone_bound(instance), certificate=PlacementCertificate(proof=Alone())
    )


@method(
    kind="relaxation",
    reference="(C1)-(C5) (reconstructed)",
    formulation="configuration",
    backend="highs",
)
def configuration_lp(instance: PlacementInstance, limits: Limits) -> MethodOutcome:
    """Contents of servers in fractions, by column generation with exact pricing.

    Raises
    ------
    ModelRefused
        If pricing needs too many states.
    """
    clock = Clock(limits)
    generation = ColumnGeneration(Terms(instance), clock)
    done = generation.run()
    if done.infeasible:
        return MethodOutcome(proved=Status.INFEASIBLE)
    bound, certificate = certified(generation.terms, done)
    return MethodOutcome(
        dual_bound=bound,
        certificate=certificate,
        limit_hit=done.limit_hit,
        notes={
            "contents": sum(len(contents) for _, contents in generation.columns),
            "rounds": generation.rounds,
        },
    )


def certified(terms: Terms, done: Relaxation) -> tuple[Fraction, PlacementCertificate]:
    """Return the better of the bounds of the prices and of every job alone, with its proof."""
    bound, certificate = alone_bound(terms.instance), PlacementCertificate(proof=Alone())
    price = done.last_price if done.price is None else done.price
    if price is not None:
        prices = certificate_of(price_of_jobs(terms, price))
        with contextlib.suppress(ValueError):  # the check would take too long
            proved = check_bound(terms.instance, prices)
            if proved is not None and proved > bound:
                return proved, prices
    return bound, certificate


def price_of_jobs(terms: Terms, price: Floats) -> list[float | tuple[float, ...]]:
    """Return the price of a task of every job, or of 1, 2, ... tasks in a server, of gangs.

    Parameters
    ----------
    price : array, shape (lots, tasks + 1)
        Of so many tasks in a server.
    """
    of_job: list[float | tuple[float, ...]] = [0.0] * len(terms.instance.jobs)
    for lot, row in zip(terms.lots, price.tolist(), strict=True):
        together = most_together(terms.instance, terms.instance.jobs[lot.jobs[0]])
        for j in lot.jobs:
            of_job[j] = tuple(row[1 : together + 1]) if lot.gang and together > 1 else row[1]
    return of_job
