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
from collections.abc import Iterable, Iterator
from fractions import Fraction

from gadgetopt.numbers.tolerance import Number, decimal_rational
from gadgetopt.system.result import Evaluation, Violation

from .instance import (
    AdspRatesInstance,
    AdspRatesSolution,
    ErrorBound,
    MomentumCap,
    TimeToAccuracy,
)

#: Bits of a common denominator up to which sums are exact. By definition.
MOST_BITS = 2**13
#: Rounding that a momentum summed in doubles may carry. By definition.
_ROUNDING = 1e-12


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
    numbers = _Numbers(instance, given)
    steps, local = _total(numbers.steps()), numbers.most_local_steps()
    momentum = implicit_momentum(instance, given)
    model, mean = instance.model, steps / workers
    objective: Number | None = None
    if isinstance(model, MomentumCap):
        objective = _total(numbers.lost_steps())
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
    if excess > (_ROUNDING if isinstance(excess, float) else 0):
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
    period = scale * decimal_rational(instance.check_period_s)
    groups = Counter((w.step_time_s, n) for w, n in zip(instance.workers, commits, strict=True))
    times = _exact(t for t, _ in groups)
    terms = [
        (count, period / n * (times[t] if speed else 1 / times[t]))
        for (t, n), count in groups.items()
    ]
    inverse = 1 + _total(terms) * (m - 1) / m
    return 1 - 1 / inverse


class _Numbers:
    """Sums over the workers, those of equal times taken together."""

    def __init__(self, instance: AdspRatesInstance, commits: tuple[int, ...]):
        self.period = decimal_rational(instance.check_period_s)
        pairs = [(w.step_time_s, w.comm_time_s) for w in instance.workers]
        self.workers = Counter(pairs)
        self.commits: Counter[tuple[float, float]] = Counter()
        for pair, n in zip(pairs, commits, strict=True):
            self.commits[pair] += n
        self.fewest = dict(sorted(zip(pairs, commits, strict=True), reverse=True))
        self.exact = _exact(x for pair in self.workers for x in pair)

    def steps(self) -> list[tuple[int, Fraction]]:
        """Return the steps in a period."""
        return [
            (1, (count * self.period - self.commits[t, comm] * self.exact[comm]) / self.exact[t])
            for (t, comm), count in self.workers.items()
        ]

    def lost_steps(self) -> list[tuple[int, Fraction]]:
        """Return the steps in a period that commits cost."""
        return [(n, self.exact[comm] / self.exact[t]) for (t, comm), n in self.commits.items()]

    def most_local_steps(self) -> Fraction:
        """Return the most steps between two commits: of workers of equal times, the fewest."""
        period = float(self.period)
        rough = {pair: (period / n - pair[1]) / pair[0] for pair, n in self.fewest.items()}
        # Doubles tell which may be the largest; these are compared exactly.
        high = max(rough.values())
        near = [pair for pair, x in rough.items() if x >= high - 1e-9 * abs(high)]
        return max(
            (self.period / self.fewest[t, comm] - self.exact[comm]) / self.exact[t]
            for t, comm in near
        )


def _exact(numbers: Iterable[float]) -> dict[float, Fraction]:
    """Return the rationals that doubles denote, each once."""
    return {x: decimal_rational(x) for x in set(numbers)}


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
