"""ADSP's search (Algorithm 1) on the model: equal commits, one more while that is better."""

from __future__ import annotations

import math

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.tolerance import Number
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..evaluate import evaluate
from ..instance import AdspRatesInstance, AdspRatesSolution


@method(
    kind="heuristic", reference="Algorithm 1, with the model's objective for the measured reward"
)
def adsp(instance: AdspRatesInstance, *, initial: int = 1) -> MethodOutcome:
    r"""Equal commits; from the initial rate up by one while the objective falls.

    Return the equal rate at which Algorithm 1 stops on the objective of the model.

    .. math:: C \leftarrow C + 1 \quad\text{while}\quad f(C + 1) < f(C)

    The same result as `plain` from rate 1, tested. It only climbs. As f is convex in C under
    the error bound, and one over two concave factors for the time to accuracy, it stops at the
    best equal rate if it starts no higher. Under the momentum cap more commits lose more steps,
    and the first rate that meets the cap is the best.

    Parameters
    ----------
    instance : AdspRatesInstance
    initial : int, default 1
        The rate carried over from before; the authors' code starts at 1.

    Notes
    -----
    Departure from the text: the reward is the model's objective, not a fit of measured losses;
    `adsp_training` has the search that measures. Rates of no value are climbed over.
    """
    last = min(instance.largest_equal_rate, instance.cap // len(instance.workers))
    if not initial >= 1:
        raise ModelRefused(f"initial: {initial}, expected at least 1")
    rate = min(initial, last)
    if not rate:
        return MethodOutcome()
    value, solution = equal_rate(instance, rate)
    evaluated = 1
    while rate < last:
        next_value, next_solution = equal_rate(instance, rate + 1)
        evaluated += 1
        if not next_value < value and not math.isinf(value):
            break
        rate, value, solution = rate + 1, next_value, next_solution
    if math.isinf(value):
        return MethodOutcome(notes={"evaluations": evaluated})
    return MethodOutcome(
        solution=solution, claimed_objective=value, notes={"rate": rate, "evaluations": evaluated}
    )


def equal_rate(instance: AdspRatesInstance, rate: int) -> tuple[Number, AdspRatesSolution]:
    """Return the objective of an equal rate, infinite if it is infeasible, and the decision."""
    solution = AdspRatesSolution(commits_per_period=(rate,) * len(instance.workers))
    evaluation = evaluate(instance, solution)
    value = evaluation.objective
    return (value if evaluation.feasible and value is not None else math.inf), solution
