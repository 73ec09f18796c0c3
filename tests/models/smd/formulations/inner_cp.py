r"""The problem of one job as a table constraint in CP-SAT.

F6 of the page (reconstructed): a cross-check; enumeration is faster.

Variables: w, p, and the time T in units of 1/S seconds. Every pair that fits is a row of the table.

.. math::
    \min\ T \quad \text{s.t.} \quad (w, p, T) \in \{(w, p, \lfloor S\, \tau(w, p) \rfloor) :
    O w + G p \le v\}

Times are rounded down, so that T / S is a lower bound, and the pair is within 1/S of the best.
"""

from __future__ import annotations

import math

import numpy as np
from ortools.sat.python import cp_model

from gadgetopt.errors import ModelRefused
from gadgetopt.models.smd.instance import Job
from gadgetopt.models.smd.subproblems.inner import Pair, pairs
from gadgetopt.solvers.cpsat import solve_cp, value_of
from gadgetopt.system.result import Limits

from .inner_milp import InnerOutcome

#: Most pairs in a table.
LARGEST_TABLE = 10**5

#: Bits of the largest time.
TIME_BITS = 50


def time_scale(longest_s: float) -> float:
    """Return S, the power of two by which the longest time has at most `TIME_BITS` bits.

    A power of two, so that multiplying by it is exact.
    """
    return math.ldexp(1.0, TIME_BITS - math.frexp(longest_s)[1])


def solve_table(job: Job, limits: Limits | None = None, seed: int = 0) -> InnerOutcome:
    """Solve the table model of a job with CP-SAT.

    Raises
    ------
    ModelRefused
        If not even (1, 1) fits, more than `LARGEST_TABLE` pairs do, or a time is not finite.
    """
    table = pairs(job)
    if len(table) == 0:
        raise ModelRefused("not even one worker and one server fit")
    if len(table) > LARGEST_TABLE:
        raise ModelRefused(f"the table of one job has {len(table)} rows")
    if not np.isfinite(table.tau_s).all():
        raise ModelRefused("a completion time of the job is not finite")
    S = time_scale(float(table.tau_s.max()))
    times = [math.floor(tau * S) for tau in table.tau_s.tolist()]

    model = cp_model.CpModel()
    w = model.new_int_var(1, int(table.w.max()), "w")
    p = model.new_int_var(1, int(table.p.max()), "p")
    T = model.new_int_var(min(times), max(times), "T")
    model.add_allowed_assignments(
        [w, p, T], list(zip(table.w.tolist(), table.p.tolist(), times, strict=True))
    )
    model.minimize(T)

    outcome = solve_cp(model, limits or Limits(), seed)
    bound = None if outcome.bound is None else float(outcome.bound) / S
    if outcome.values is None:
        return InnerOutcome(None, bound, outcome.status)
    w_found, p_found = value_of(outcome.values, w), value_of(outcome.values, p)
    tau_s = float(job.completion_time.at(w_found, p_found))
    return InnerOutcome(Pair(w_found, p_found, tau_s), bound, outcome.status)
