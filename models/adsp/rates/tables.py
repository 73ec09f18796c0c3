r"""Tables of doubles that methods share: :math:`k_i(n)`, :math:`\tau_i(n)` and the objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints

from .instance import AdspRatesInstance, AdspRatesSolution, MomentumCap


@dataclass(frozen=True)
class Tables:
    """Numbers of the workers as arrays.

    Attributes
    ----------
    period_steps : ndarray, shape (m,)
        Steps in a period without commits.
    commit_steps : ndarray, shape (m,)
        Steps that a commit costs.
    most : ndarray of int, shape (m,)
        Most commits.
    """

    period_steps: Floats
    commit_steps: Floats
    most: Ints

    @classmethod
    def of(cls, instance: AdspRatesInstance) -> Tables:
        """Return the tables of an instance."""
        t = np.array([worker.step_time_s for worker in instance.workers])
        comm = np.array([worker.comm_time_s for worker in instance.workers])
        return cls(instance.check_period_s / t, comm / t, np.array(instance.most_commits))

    def steps(self, commits: Any) -> Floats:
        """Return k, the steps in a period, of each worker with so many commits."""
        steps: Floats = self.period_steps - commits * self.commit_steps
        return steps

    def local_steps(self, commits: Any) -> Floats:
        """Return tau, the steps between two commits."""
        local: Floats = self.period_steps / commits - self.commit_steps
        return local


def objective(instance: AdspRatesInstance, mean_steps: Any, most_local: Any) -> Any:
    """Return the objective for S and theta, elementwise; infinite where the error is too large."""
    model = instance.model
    assert not isinstance(model, MomentumCap), "the momentum cap has no such objective"
    drift = model.b * (most_local - 1)
    with np.errstate(all="ignore"):
        if model.kind == "error_bound":
            return model.a / mean_steps + drift
        budget = model.error_budget - drift
        return np.where(budget > 0, model.a / (mean_steps * budget), np.inf)


def solution_of(commits: Any) -> AdspRatesSolution:
    """Return a decision from numbers of commits."""
    return AdspRatesSolution(commits_per_period=tuple(int(n) for n in commits))


def momentum_terms(instance: AdspRatesInstance) -> Floats:
    """Return what each worker's momentum term is of one commit, shape (m,); of n it is 1/n."""
    model = instance.model
    assert isinstance(model, MomentumCap), "only the momentum cap has such terms"
    t = np.array([worker.step_time_s for worker in instance.workers])
    return model.scale * instance.check_period_s * (t if model.reading == "speed" else 1 / t)


def momentum_limit(instance: AdspRatesInstance) -> float:
    """Return q, what the terms may sum up to; infinite for one worker."""
    model, m = instance.model, len(instance.workers)
    assert isinstance(model, MomentumCap), "only the momentum cap has such a limit"
    if m == 1:
        return float("inf")
    return model.max_momentum / (1 - model.max_momentum) / (1 - 1 / m)
