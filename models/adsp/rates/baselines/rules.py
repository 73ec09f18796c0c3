"""Rules of thumb for commits per period."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.climb import equal_rate
from ..evaluate import evaluate
from ..instance import AdspRatesInstance, AdspRatesSolution
from ..tables import Tables, objective, solution_of

#: Factors tried of rates by speed. Tuned: `benchmarks/constants.py`.
_MOST_FACTORS = 400


@method(kind="baseline", reference="ADSP's rule, fairness window 0")
def equal_commits(instance: AdspRatesInstance, limits: Limits) -> MethodOutcome:
    """The best of all equal rates.

    Under the error bound and the time to accuracy, in doubles first: the best is then evaluated.
    """
    last = min(instance.largest_equal_rate, instance.cap // len(instance.workers))
    if not last:
        return MethodOutcome()
    if instance.model.kind == "momentum_cap":
        rates = (equal_rate(instance, rate) for rate in range(1, last + 1))
        found = next((pair for pair in rates if not math.isinf(pair[0])), None)
        if found is None:
            return MethodOutcome()
        return MethodOutcome(solution=found[1], claimed_objective=found[0])
    tables = Tables.of(instance)
    values = [
        float(objective(instance, tables.steps(n).mean(), tables.local_steps(n).max()))
        for n in range(1, last + 1)
    ]
    best = int(np.argmin(values))
    if math.isinf(values[best]):
        return MethodOutcome()
    return _best(instance, limits, [np.full(len(tables.most), best + 1)])


@method(kind="baseline", reference="equal local steps, as in periodic averaging")
def by_speed(instance: AdspRatesInstance, limits: Limits) -> MethodOutcome:
    """Commits in proportion to speed, the best factor.

    Return rates in proportion to speeds, rounded and cut to the window, of the best factor.

    Notes
    -----
    Factors make the fastest worker commit 1, 2, ... times, at most 400 of them evenly spread.
    """
    speeds = np.array([1 / worker.step_time_s for worker in instance.workers])
    fastest = range(1, max((1, *instance.most_commits)) + 1)
    step = -(-len(fastest) // _MOST_FACTORS)
    return _best(
        instance, limits, (_cut(instance, n * speeds / speeds.max()) for n in fastest[::step])
    )


@method(kind="baseline", reference="as bulk-synchronous training")
def most_commits(instance: AdspRatesInstance, limits: Limits) -> MethodOutcome:
    """As many commits as window and cap allow.

    Under an error bound with an expensive drift that is near the optimum, as bulk-synchronous
    training is, which commits after every step.
    """
    starts = range(instance.largest_equal_rate, 0, -1)
    most = np.array(instance.most_commits)
    for c in starts:
        if c * len(most) <= instance.cap:
            high = np.minimum(most, c + instance.window)
            # The largest threshold of commits that the cap allows.
            tops = range(int(high.max()), c - 1, -1)
            top = next(t for t in tops if int(np.minimum(high, t).sum()) <= instance.cap)
            return _best(instance, limits, [np.minimum(high, top)])
    return MethodOutcome()


def _cut(instance: AdspRatesInstance, wanted: np.ndarray) -> Ints:
    """Return whole rates near wanted ones, within reach and window."""
    most = np.array(instance.most_commits)
    commits = np.clip(np.rint(wanted).astype(np.int64), 1, most)
    low = max(1, min(int(commits.min()), instance.largest_equal_rate))
    low = max(low, min(int(commits.max()) - instance.window, instance.largest_equal_rate))
    cut: Ints = np.clip(commits, low, np.minimum(most, low + instance.window))
    return cut


def _best(instance: AdspRatesInstance, limits: Limits, candidates: Iterable[Ints]) -> MethodOutcome:
    """Return the best feasible candidate."""
    clock = Clock(limits)
    search: Search[AdspRatesSolution] = Search("min", limits)
    tried: set[bytes] = set()
    for commits in candidates:
        if clock.expired and tried:
            break
        if commits.tobytes() in tried or not instance.largest_equal_rate:
            continue
        tried.add(commits.tobytes())
        solution = solution_of(commits)
        evaluation = evaluate(instance, solution)
        if evaluation.feasible and evaluation.objective is not None:
            search.offer(evaluation.objective, solution)
    return MethodOutcome(
        solution=search.best, claimed_objective=search.value if search.best else None
    )
