"""Methods run on an instance, and the value and bound of what they return."""

import numpy as np
from calling import called

from gadgetopt.models.knapsack.evaluate import evaluate
from gadgetopt.models.knapsack.proving.certificate import check_bound
from gadgetopt.system.result import Limits


def run(method, instance, limits=None, **parameters):
    """Run a method with the seed 0."""
    return called(method, instance, limits or Limits(), np.random.default_rng(0), **parameters)


def bound_of(instance, outcome):
    """Return the bound that an outcome claims, or that its certificate proves."""
    if outcome.certificate is None:
        return outcome.dual_bound
    return check_bound(instance, outcome.certificate)


def value_of(instance, outcome):
    """Return the profit of an outcome's solution, which is feasible and worth what it claims."""
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible
    assert evaluation.objective == outcome.claimed_objective
    return evaluation.objective
