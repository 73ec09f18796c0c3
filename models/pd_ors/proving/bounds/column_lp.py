"""The linear relaxation of the schedule columns (10), by column generation."""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...instance import PdOrsInstance
from ..certificate.check import certificate_of
from .column_generation import generate, pricings
from .price_bound import best_scale, final_prices
from .restricted_master import RestrictedMaster


@method(kind="relaxation", reference="(10), (11)", formulation="schedule_columns")
def column_lp(
    instance: PdOrsInstance,
    limits: Limits,
    *,
    quanta: int = 200,
    finest: int = 4000,
    warm_start: bool = True,
) -> MethodOutcome:
    """Linear relaxation of the schedule columns, by column generation.

    Parameters
    ----------
    quanta, finest : int
        Parts of a job's work where it is too large to be counted exactly, at first and in the end.
        The check of the certificate does not depend on them.
    warm_start : bool
        True if the first columns are generated at the prices of `price_bound`, not at zero.
    """
    clock = Clock(limits)
    master = RestrictedMaster(instance)
    jobs = pricings(instance)
    start = np.zeros(master.shape)
    if warm_start:
        start = first_prices(instance, clock.limits(), master)
    done = generate(master, jobs, clock.limits(), quanta=(quanta, finest), start=start)
    return MethodOutcome(
        certificate=certificate_of(instance, done.price[:, master.classes.of_machine]),
        limit_hit=done.limit_hit,
        trace=tuple(done.trace),
        notes={
            "columns": len(master.columns),
            "rounds": done.rounds,
            "master": done.value if done.status is Status.OPTIMAL else None,
        },
    )


def first_prices(instance: PdOrsInstance, limits: Limits, master: RestrictedMaster) -> Floats:
    """Return the prices of `price_bound`, averaged over each class; zero if there are none.

    Returns
    -------
    array, shape (slots, classes, resources)
    """
    price = final_prices(instance, limits)
    out = np.zeros(master.shape)
    if price is not None:
        scaled = best_scale(instance, price) * price
        for c in range(len(master.classes.count)):
            out[:, c] = scaled[:, master.classes.of_machine == c].mean(axis=1)
    return out
