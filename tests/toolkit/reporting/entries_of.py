"""Entries of comparisons that were never run."""

import numpy as np

from gadgetopt.runs.comparison import Entry, entries
from gadgetopt.runs.rows import StoredRun
from gadgetopt.runs.store import StoredInstance
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result, Status, Voucher
from gadgetopt.trust.judgement import relative_gap
from gadgetopt.trust.theorems import Promise

LIMIT_S = 60.0

#: Label, kind, whether it is stochastic.
METHODS = (
    ("own", "approximation", False),
    ("random", "baseline", True),
    ("bound", "relaxation", False),
    ("search", "exact", False),
)


def result(
    instance, method, kind="heuristic", objective=None, bound=None, *, system="sjf_bco",
    status=None, voucher=Voucher.SOLVER, time_s=0.5, seed=None, **more
):  # fmt: skip
    """A result whose status follows from objective and bound."""
    gap = relative_gap(objective, bound)
    found = Status.NO_SOLUTION if objective is None else Status.FEASIBLE
    return Result(
        problem=system, instance=instance, fingerprint=f"{system} {instance}", method=method,
        kind=kind, parameters={}, formulation=method, backend=None,
        status=status or (Status.OPTIMAL if gap == 0 else found), objective=objective,
        claimed_objective=None, bound=bound, bound_voucher=None if bound is None else voucher,
        gap=gap, limit_hit=more.pop("limit_hit", None), time_s=time_s, seed=seed, **more,
    )  # fmt: skip


def table(results, promises=(), size=None, limits=None) -> list[Entry]:
    """The entries of results, as `compare` returns them; all have the same promises."""
    limits = limits or Limits(time_s=LIMIT_S)
    runs = [
        StoredRun(str(k), r, tuple(promises) if r.kind == "approximation" else (), limits, "1", "c")
        for k, r in enumerate(results)
    ]
    stored = {
        r.fingerprint: StoredInstance(
            r.fingerprint, r.problem, r.instance, (size or {}).get(r.instance, {}), {}
        )
        for r in results
    }
    return entries(runs, lambda: stored)


def study(instances=12, seeds=3, systems=("sjf_bco", "knapsack"), draw=0) -> list[Entry]:
    """A random comparison with errors, limits, open gaps and instances without a solution."""
    rng = np.random.default_rng(draw)
    out = []
    for system in systems:
        minimise = problem(system).sense == "min"
        for k in range(instances):
            best = int(rng.integers(4, 9))
            out += [
                _drawn(rng, system, f"i{k:03d}", method, kind, seed, best, minimise)
                for method, kind, stochastic in METHODS
                for seed in (range(seeds) if stochastic else (None,))
            ]
    theorem = Promise("T", "Theorem 1", "proven", 3), Promise("C", "Claim 2", "claimed", 2)
    size = {f"i{k:03d}": {"jobs": 4 * (1 + k % 3), "load": k / 10} for k in range(instances)}
    return table(out, theorem, size)


def _drawn(rng, system, instance, method, kind, seed, best, minimise):
    where = {"system": system, "seed": seed, "time_s": float(rng.uniform(0, 3))}
    fate = rng.uniform()
    if fate < 0.05:
        return result(instance, method, kind, status=Status.ERROR, reason="it broke", **where)
    limit = "time_s" if fate < 0.1 else None
    loss = int(rng.integers(0, 3))
    if kind == "relaxation":
        bound = best - loss if minimise else best + loss
        return result(instance, method, kind, None, bound, voucher=Voucher.VERIFIED, **where)
    if kind == "exact":
        bound = None if fate > 0.9 else best - (limit is not None) * (1 if minimise else -1)
        return result(instance, method, kind, best, bound, limit_hit=limit, **where)
    if fate < 0.15:
        return result(instance, method, kind, None, **where)
    return result(instance, method, kind, best + loss if minimise else best - loss, **where)
