"""Portfolio of the exact methods: branch-and-price where an instance is small, branch and check."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gadgetopt.numbers.tolerance import CLOSED_GAP
from gadgetopt.search.clock import Clock
from gadgetopt.search.watched import watched_stage
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import PdOrsInstance
from ..bounds.column_generation import pricings
from ..certificate.check import (
    PdOrsCertificate,
    check_bound,
)
from .branch_and_check import (
    Way,
    branch_and_check,
)
from .branch_and_price import branch_and_price

#: Machines times slots up to which an instance is small. Tuned: `benchmarks/constants.py`.
FEW_PLACES = 200
#: Part of the time for branch-and-price there. Tuned: `benchmarks/constants.py`.
PRICE_PART = 0.6


@method(
    kind="exact",
    reference="schedule columns and aggregated relaxation (reconstructed)",
    formulation="aggregated",
    backend="highs",
)
def portfolio(
    instance: PdOrsInstance, limits: Limits, *, placing: Way = "repacking"
) -> MethodOutcome:
    """Branch-and-price where the cluster is small, then or otherwise branch and check.

    Return an optimal decision, or the best decision and the least bound of both methods.

    Branch-and-price goes first where the cluster is small and work is counted exactly; contended
    instances of that size are closed by it only. Branch and check has the time that is left
    (reconstructed).

    Parameters
    ----------
    placing : "repacking" or "choice"
        As in `branch_and_check`.
    """
    clock = Clock(limits)
    jobs = pricings(instance)
    small = len(instance.machines) * instance.horizon_slots <= FEW_PLACES
    if not jobs or not small or not all(job.exact for job in jobs):
        return branch_and_check(instance, limits, placing=placing)
    first = branch_and_price(instance, watched_stage(limits, clock.limits(part=PRICE_PART)))
    first.formulation = "schedule_columns"
    value, bound = _ends(instance, first)
    if first.limit_hit == "interrupted" or _closed(value, bound, limits):
        return first
    passed = clock.elapsed_s
    second = branch_and_check(instance, watched_stage(limits, clock.limits()), placing=placing)
    other_value, other_bound = _ends(instance, second)
    lower = second if other_bound < bound else first
    better = second if other_value > value else first
    closed = _closed(max(value, other_value), min(bound, other_bound), limits)
    return MethodOutcome(
        solution=better.solution,
        claimed_objective=better.claimed_objective,
        dual_bound=lower.dual_bound,
        certificate=lower.certificate,
        limit_hit=None if closed else second.limit_hit,
        formulation="schedule_columns" if lower is first else None,
        trace=(*first.trace, *(replace(p, time_s=p.time_s + passed) for p in second.trace)),
        phases_s={"branch_and_price": passed, **second.phases_s},
        notes={**first.notes, **second.notes},
    )


def _closed(value: float, bound: float, limits: Limits) -> bool:
    return bound - value <= max(limits.rel_gap, CLOSED_GAP) * abs(value)


def _ends(instance: PdOrsInstance, outcome: MethodOutcome) -> tuple[float, float]:
    """Return the value and the bound of an outcome."""
    value = float(outcome.claimed_objective or 0.0)
    if outcome.dual_bound is None and isinstance(outcome.certificate, PdOrsCertificate):
        return value, check_bound(instance, outcome.certificate)
    return value, np.inf if outcome.dual_bound is None else float(outcome.dual_bound)
