r"""The evaluator: the value of commits per period under the model of the instance.

With :math:`n_i` commits in a period :math:`\Gamma`, worker i computes for
:math:`\Gamma - n_i O_i` seconds. It makes

.. math::
    k_i = \frac{\Gamma - n_i O_i}{t_i}, \qquad
    \tau_i = \frac{\Gamma / n_i - O_i}{t_i}                                     \tag{E1}

steps in a period and between two commits. With :math:`S = \frac1m \sum_i k_i` and
:math:`\theta = \max_i \tau_i` the objective, which is minimised, is

.. math::
    \psi = \frac{a}{S} + b\,(\theta - 1), \qquad
    T = \frac{a}{S\,(\epsilon_0 - b\,(\theta - 1))}, \qquad
    \sum_i \frac{n_i O_i}{t_i}                                                  \tag{E2}

for the error bound, the time to accuracy, and the momentum cap: the steps lost to commits, as
:math:`\sum_i k_i = \sum_i \Gamma / t_i - \sum_i n_i O_i / t_i`. Numbers are exact rationals as long
as the workers' times have a common denominator of some thousand digits, else doubles.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from gadgetopt.numbers.tolerance import Number, decimal_rational
from gadgetopt.system.result import Evaluation, Violation

from ..subproblems.workers import Worker
from .instance import (
    AdspRatesInstance,
    AdspRatesSolution,
    ErrorBound,
    MomentumCap,
    TimeToAccuracy,
)

#: Bits of a common denominator up to which sums are exact.
MOST_BITS = 2**13


def evaluate(instance: AdspRatesInstance, solution: AdspRatesSolution) -> Evaluation:
    r"""Recompute the objective of a decision, and which constraints it violates.

    Returns
    -------
    Evaluation
        The objective is None if a worker has no rate, commits never, or an error is out of reach.
        Components: S, the mean steps in a period; theta, the most local steps between two commits;
        all commits in a period; the spread of the commits; the implicit momentum of Theorem 1 in
        the reading of the model (R2 where it has none).
    """
    given, workers = solution.commits_per_period, len(instance.workers)
    if len(given) != workers:
        where = f"commits_per_period of {workers} workers"
        return Evaluation(None, (Violation("not_one_rate_a_worker", where, len(given) - workers),))
    if min(given) < 1:
        i = given.index(min(given))
        return Evaluation(None, (Violation("no_commit", f"commits_per_period[{i}]", 1),))
    violations = list(_limits(instance, solution))
    period = decimal_rational(instance.check_period_s)
    groups = Counter(zip(instance.workers, given, strict=True))
    steps = _total([(count, _steps(period, worker, n)) for (worker, n), count in groups.items()])
    local = max(_steps(period, worker, n) / n for worker, n in groups)
    momentum = implicit_momentum(instance, given)
    model, mean = instance.model, steps / workers
    objective: Number | None = None
    if isinstance(model, MomentumCap):
        # Of equal denominators, so that it is exact where the sum of the steps is.
        objective = _total([(count, _lost(worker, n)) for (worker, n), count in groups.items()])
        violations += _momentum(model, momentum)
    elif mean > 0:
        objective = _value(model, mean, local)
        if objective is None:
            violations.append(Violation("error_out_of_reach", "most local steps", float(local)))
    components = {
        "mean_steps_per_period": float(mean),
        "most_local_steps": float(local),
        "commits": sum(given),
        "commit_spread": max(given) - min(given),
        "implicit_momentum": float(momentum),
    }
    return Evaluation(objective, tuple(violations), components)


def _limits(instance: AdspRatesInstance, solution: AdspRatesSolution) -> Iterator[Violation]:
    given = solution.commits_per_period
    for i, (n, most) in enumerate(zip(given, instance.most_commits, strict=True)):
        if n > most:
            where = f"commits_per_period[{i}], at most {most} (all workers: "
            where += f"{instance.largest_equal_rate})"
            yield Violation("rate_out_of_reach", where, n - most)
    spread, total = max(given) - min(given), sum(given)
    if spread > instance.window:
        yield Violation("window_exceeded", "commits_per_period", spread - instance.window)
    if instance.commit_cap is not None and total > instance.commit_cap:
        yield Violation("cap_exceeded", "commits_per_period", total - instance.commit_cap)


def _momentum(model: MomentumCap, momentum: Number) -> Iterator[Violation]:
    excess = momentum - _as(momentum, decimal_rational(model.max_momentum))
    # A float is a sum beyond exact arithmetic.
    if excess > (1e-12 if isinstance(excess, float) else 0):
        yield Violation("momentum_exceeded", "commits_per_period", excess)


def _value(model: ErrorBound | TimeToAccuracy, mean: Number, local: Fraction) -> Number | None:
    a, drift = decimal_rational(model.a), decimal_rational(model.b) * (local - 1)
    if isinstance(model, ErrorBound):
        return _as(mean, a) / mean + _as(mean, drift)
    budget = decimal_rational(model.error_budget) - drift
    return None if budget <= 0 else _as(mean, a) / (mean * _as(mean, budget))


def implicit_momentum(instance: AdspRatesInstance, commits: tuple[int, ...]) -> Number:
    r"""Return Theorem 1's momentum.

    It is :math:`1 - p` with :math:`\frac1p = 1 + (1 - \frac1m) \sum_i \kappa g_i`, and
    :math:`g_i = \Gamma / (n_i t_i)` (R2) or :math:`\Gamma t_i / n_i` (R1).
    """
    model, m = instance.model, len(instance.workers)
    speed = isinstance(model, MomentumCap) and model.reading == "speed"
    scale = decimal_rational(model.scale) if isinstance(model, MomentumCap) else Fraction(1)
    period = decimal_rational(instance.check_period_s)
    groups = Counter(zip(instance.workers, commits, strict=True))
    terms = []
    for (worker, n), count in groups.items():
        t = decimal_rational(worker.step_time_s)
        terms.append((count, scale * period * (t if speed else 1 / t) / n))
    inverse = 1 + _total(terms) * (m - 1) / m
    return 1 - 1 / inverse


def _steps(period: Fraction, worker: Worker, commits: int) -> Fraction:
    """Return k, the steps in a period."""
    t, O = decimal_rational(worker.step_time_s), decimal_rational(worker.comm_time_s)  # noqa: E741
    return (period - commits * O) / t


def _lost(worker: Worker, commits: int) -> Fraction:
    """Return the steps in a period that commits cost."""
    return commits * decimal_rational(worker.comm_time_s) / decimal_rational(worker.step_time_s)


def _total(terms: list[tuple[int, Fraction]]) -> Number:
    """Return the sum of counts times numbers; a double if exact numbers have too many digits."""
    denominator = 1
    for d in {x.denominator for _, x in terms}:
        denominator = math.lcm(denominator, d)
        if denominator.bit_length() > MOST_BITS:
            return math.fsum(count * float(x) for count, x in terms)
    whole = sum(count * x.numerator * (denominator // x.denominator) for count, x in terms)
    return Fraction(whole, denominator)


def _as(like: Number, x: Fraction) -> Number:
    """Return a number as a double if another is one."""
    return float(x) if isinstance(like, float) else x
