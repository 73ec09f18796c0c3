r"""Bounds by formula and rules; all plans where they are few; F3 for what is left, on fewer slots.

All plans whose jobs end in at most so many slots, in sum, are gone through
(`plan_search`), for the least number that is possible first and then for the least
that they left open, until there is a plan. Each time that there is none, the bound is proved.

Where there are too many of them, orders are searched for a good plan. Let :math:`k_j` be the slot
in which job j ends at the earliest, if nobody disturbs it, U the sum of all jobs' last slots in the
best plan so far. In a better plan no job ends later than :math:`k_j + U - \sum_i k_i`, so F3 needs
no slots after the largest of these; F3r takes its place with boards or a network. Its bound, or
that nothing better is left, closes the search.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of, solve_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...evaluate import evaluate
from ...formulations import time_slotted
from ...heuristics.order_search import (
    swap_jobs,
    try_rules,
)
from ...instance import (
    QueueingInstance,
    QueueingSolution,
)
from ..certificate.check import (
    QueueingCertificate,
    check_bound,
    mean_completion_s,
    slots_alone,
)
from ..formulations import ring_slots
from .plan_search import PlanSearch
from .slot_ways import TooManyStatesError

#: Parts of the time left that the searches for a plan may take, and that all plans may.
#: Tuned: `benchmarks/constants.py`.
_SEARCH_PART, _PLANS_PART = 0.2, 0.7

_CERTIFICATES = (
    QueueingCertificate(kind="alone"),
    QueueingCertificate(kind="srpt", resource="gpus"),
    QueueingCertificate(kind="srpt", resource="cpus"),
)


@method(kind="exact", reference="this project", formulation="time_slotted", backend="highs")
def search_and_close(
    instance: QueueingInstance, limits: Limits, rng: np.random.Generator, *, rounds: int = 100
) -> MethodOutcome:
    """Rules and bounds by formula; then all plans, or F3 where they are too many.

    Return an optimal plan, by rules and all plans below them, else by F3.

    Parameters
    ----------
    rounds : int
        Changed orders that the search tries.
    """
    search: Search[QueueingSolution] = Search("min", limits)
    with search.interruptible():
        with search.clock.phase("bounds"):
            for certificate in _CERTIFICATES:
                bound = check_bound(instance, certificate)
                if bound is not None:
                    search.prove(bound, certificate)
        with search.clock.phase("rules"):
            ranked = try_rules(instance, search, rng, _SEARCH_PART)
        if not search.over:
            with search.clock.phase("all plans"):
                _exhaust(instance, search)
        if not search.over:
            with search.clock.phase("search"):
                swap_jobs(instance, search, rng, ranked, rounds, _SEARCH_PART)
        if not search.over:
            slots = _slots_left(instance, search.best)
            return _close(instance, instance.model_copy(update={"num_slots": slots}), search, rng)
    return search.outcome(search.best)


def _exhaust(instance: QueueingInstance, search: Search[QueueingSolution]) -> None:
    """Raise the bound by going through all plans, until there is one or they are too many."""
    clock = Clock(search.clock.limits(_PLANS_PART))
    most = len(instance.jobs) * instance.num_slots
    try:
        plans = PlanSearch(instance, lambda: clock.expired)
        least: int | None = plans.bound()
        while least is not None and least <= most:
            search.prove(
                mean_completion_s(instance, least),
                QueueingCertificate(kind="exhaustion", slots=least),
            )
            if search.closed:
                return
            found = plans.run(least + 1)
            if found is not None:
                value = evaluate(instance, found).objective
                if value is not None:
                    search.offer(value, found)
                return
            least = plans.least
    except TooManyStatesError:
        return
    search.infeasible = True


def _slots_left(instance: QueueingInstance, best: QueueingSolution | None) -> int:
    """Return how many slots a better plan may use."""
    if best is None:
        return instance.num_slots
    value = evaluate(instance, best).objective
    earliest = [
        first + needed
        for first, needed in zip(instance.first_slots, slots_alone(instance), strict=True)
    ]
    arrivals_s = sum(job.arrival_s for job in instance.jobs)
    ends = ((value or 0) * len(instance.jobs) + arrivals_s) / instance.slot_s
    slack = int(ends) - sum(earliest)
    return min(instance.num_slots, max(earliest) + slack)


def _close(
    instance: QueueingInstance,
    shorter: QueueingInstance,
    search: Search[QueueingSolution],
    rng: np.random.Generator,
) -> MethodOutcome:
    """Solve F3 on the slots that are left, and join what it proves."""
    f3 = ring_slots if instance.has_architecture else time_slotted
    try:
        with search.clock.phase("build"):
            model = f3.build(shorter)
    except ModelRefused as refusal:
        if search.best is None:
            raise
        return search.outcome(search.best, **{"F3": str(refusal)})
    if search.clock.expired:
        return search.outcome(search.best)
    with search.clock.phase("F3"):
        solved = solve_model(model, "highs", search.clock.limits(), seed=seed_of(rng))
    search.versions.update(solved.versions)
    search.limit_hit = solved.limit_hit
    if solved.status in (Status.OPTIMAL, Status.FEASIBLE):
        solution = f3.decode(model, shorter)
        value = evaluate(instance, solution).objective
        if value is not None:
            search.offer(value, solution)
    if solved.status is Status.INFEASIBLE:
        # Nothing is as good as the best plan, or there is no plan at all.
        if search.best is None:
            search.infeasible = True
        else:
            search.prove(search.value)
    elif solved.bound is not None:
        search.prove(min(solved.bound, search.value))
    return search.outcome(search.best, slots=shorter.num_slots)
