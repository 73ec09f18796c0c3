"""The statements, checked by their units and on counterexamples."""

from __future__ import annotations

from gadgetopt.numbers.dimensions import unit
from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, changed, no_better

from ..evaluate import implicit_momentum
from ..instance import AdspRatesInstance

#: Commits of the two workers in a period.
COMMITS = (8, 18)

#: The two units of time in which the momentum is computed.
SECONDS_A_MINUTE = 60


@statement(
    source="Theorem 1, implicit momentum, with v a speed in steps per second",
    statement="the momentum does not depend on the unit of time",
    grade="dimensions",
    repair="v is the time of a step; the authors' scripts compute local steps per commit",
    proof="Gamma/(Delta C t) is a number",
    reconstructed=True,
)
def momentum_units(document: Document) -> Finding:
    """The term of Theorem 1 in both readings, and the momentum in seconds and in minutes."""
    second, step = unit("s"), unit("step")
    commits = unit("commit")
    as_speed = second / (commits * (step / second))
    as_time = second / (commits * (second / step))
    instance: AdspRatesInstance = document.data
    workers = tuple(
        {
            "step_time_s": worker.step_time_s / SECONDS_A_MINUTE,
            "comm_time_s": worker.comm_time_s / SECONDS_A_MINUTE,
        }
        for worker in instance.workers
    )
    period = instance.check_period_s / SECONDS_A_MINUTE
    minutes = changed(document, workers=workers, check_period_s=period)
    in_s, in_min = (float(implicit_momentum(x, COMMITS)) for x in (instance, minutes.data))
    shown = (
        f"unit of the terms: {as_speed} for a speed, {as_time} for a time; momentum at the rates "
        f"{COMMITS}: {in_s:.3f} in seconds, {in_min:.3f} in minutes"
    )
    return Finding(abs(in_s - in_min) < 1e-9, shown)


@statement(
    source="one commit rate for all workers, under the error bound B2",
    statement="equal rates are the best rates",
    grade="refuted",
    repair=("the best equal rate is found by the climb from 1; exact_rates has the best rates"),
    proof="models/adsp/rates/guarantees: the bound is convex in an equal rate",
    command="compare {} --methods equal_commits,exact_rates",
    reconstructed=True,
)
def equal_commits(document: Document) -> Finding:
    """The best equal rate beside the best rates."""
    return no_better(document, "equal_commits", "exact_rates")
