"""Algorithm 1 of ADSP on the model: all workers commit C times, and C climbs while that pays.

The printed algorithm measures rewards while training goes on; `adsp_training` has it. Here EVAL(C)
is the objective of the model, of which less is better (reconstructed).
"""

from __future__ import annotations

import math

from gadgetopt.numbers.tolerance import Number

from ..evaluate import evaluate
from ..instance import AdspRatesInstance, AdspRatesSolution


def adsp(instance: AdspRatesInstance) -> AdspRatesSolution | None:
    """Return the rate at which the search stops as a decision; None if it met no feasible one."""
    m = len(instance.workers)
    # No worker can make more commits, and all together may not make more than the cap allows.
    last = min(instance.largest_equal_rate, instance.cap // m)
    if last < 1:
        return None
    C = 1  # C <- initial; the authors' code starts at 1
    r1 = EVAL(instance, C)
    while last > C:
        r2 = EVAL(instance, C + 1)
        # while r2 > r1: here of values, so while r2 < r1; it climbs over rates that are infeasible
        # (reconstructed)
        if not r2 < r1 and r1 < math.inf:
            break
        C, r1 = C + 1, r2
    return None if r1 == math.inf else AdspRatesSolution(commits_per_period=(C,) * m)


def EVAL(instance: AdspRatesInstance, C: int) -> Number:
    """Return the objective of C commits of every worker, infinite if they are infeasible."""
    decision = AdspRatesSolution(commits_per_period=(C,) * len(instance.workers))
    evaluation = evaluate(instance, decision)
    value = evaluation.objective
    return value if evaluation.feasible and value is not None else math.inf
