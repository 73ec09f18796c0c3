"""The first witness: all decisions of a tiny instance, evaluated one by one."""

import itertools
import json
import math

import numpy as np

from gadgetopt.models.adsp.rates.evaluate import evaluate
from gadgetopt.models.adsp.rates.instance import (
    AdspRatesInstance,
    AdspRatesSolution,
    ErrorBound,
    MomentumCap,
    TimeToAccuracy,
)
from gadgetopt.models.adsp.subproblems.workers import Worker
from gadgetopt.system.files import Document, library, read_instance
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve

KINDS = ("error_bound", "time_to_accuracy", "momentum_cap")


def optimum(instance):
    """Return the least objective, infinite if nothing is feasible."""
    best = math.inf
    rates = range(1, instance.max_commits + 1)
    for commits in itertools.product(rates, repeat=len(instance.workers)):
        found = evaluate(instance, AdspRatesSolution(commits_per_period=commits))
        if found.feasible and found.objective is not None:
            best = min(best, found.objective)
    return best


def random_instance(seed, kind):
    """Draw a tiny instance: up to three workers and seven commits, windows and caps that bind."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    m = int(rng.integers(1, 4))
    most = int(rng.integers(1, 8))
    workers = tuple(
        Worker(
            step_time_s=float(rng.choice((0.5, 1.0, 1.7, 3.0, 7.0))),
            comm_time_s=float(rng.choice((0.0, 0.3, 0.6, 1.5))),
        )
        for _ in range(m)
    )
    period = float(rng.choice((5, 12, 60)))
    local = period / min(w.step_time_s for w in workers)
    if kind == "error_bound":
        model = ErrorBound(a=float(rng.choice((1, 10, 60))), b=float(rng.choice((0, 0.02, 0.2, 1))))
    elif kind == "time_to_accuracy":
        b = float(rng.choice((0, 0.02, 0.2)))
        budget = max(0.05, round(float(rng.uniform(0.05, 1.2)) * b * local, 3))
        model = TimeToAccuracy(a=100.0, b=b, error_budget=budget)
    else:
        model = MomentumCap(
            max_momentum=round(float(rng.uniform(0.3, 0.99)), 3),
            reading=str(rng.choice(("step_time", "speed"))),
            scale=float(rng.choice((0.01, 0.1, 1))),
        )
    return AdspRatesInstance(
        workers=workers,
        check_period_s=period,
        max_commits=most,
        fairness_window=None if rng.random() < 0.3 else int(rng.integers(0, 4)),
        commit_cap=None if rng.random() < 0.5 else int(rng.integers(1, m * most + 1)),
        model=model,
    )


def run(instance, method, time_s=30.0):
    """Return a method's judged result."""
    document = Document(problem("adsp_rates"), "instance", "drawn", instance)
    return solve(document, method, Limits(time_s=time_s))


def tiny(name):
    """Return a tiny instance of the library."""
    return read_instance(library() / "adsp_rates" / "tiny" / f"{name}.json").data


def rates(*commits):
    """Return a decision."""
    return AdspRatesSolution(commits_per_period=commits)


def changed(instance, **fields):
    """Return an instance with some fields of its file changed."""
    data = json.loads(instance.model_dump_json()) | fields
    return AdspRatesInstance.model_validate_json(json.dumps(data))
