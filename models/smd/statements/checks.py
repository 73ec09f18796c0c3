"""The statements of the paper, checked on small instances."""

from __future__ import annotations

import math

from gadgetopt.system.methods import find_method
from gadgetopt.system.registry import problem
from gadgetopt.trust.statements import Finding, best_value, tested_ratio, witness

from ..algorithms.grid_search import Grid, grid_search
from ..guarantees.ratios import theorem_6_ratio
from ..instance import SmdInstance
from ..iteration_time import Layer, critical_path
from ..subproblems.inner import best_pair, pairs

#: Utility gamma_1 of a job in the experiments: uniform on 1 to 100.
_LEAST, _MOST = 1, 100

GRIDS: tuple[Grid, Grid] = ("as_printed", "repaired")

#: Standard deviations beyond which a value does not come from a distribution.
_FAR = 6.0


def lemma_2() -> Finding:
    """Twenty equal layers, by the printed recursion and without any overlap."""
    layers = [Layer(bp_s=1.0, fp_s=1.0, comm_s=2.0)] * 20
    none = critical_path(layers, "sequential").total_s
    printed = critical_path(layers, "priority", 0.5, "as_printed").total_s
    corrected = critical_path(layers, "priority", 0.5).total_s
    shown = (
        f"20 equal layers: {none:g} s without overlap, {printed:g} s by priority as printed, "
        f"{corrected:g} s corrected"
    )
    return Finding(printed <= none, shown)


def grid() -> Finding:
    """Algorithm 1 on both grids."""
    instance: SmdInstance = witness("smd/tiny/e4b_broken_grid.json")
    (job,) = instance.jobs
    printed, repaired = (grid_search(job, 0.95, grid=grid) for grid in GRIDS)
    shown = (
        f"a point on the printed grid: {printed is not None}, "
        f"on the repaired: {repaired is not None}"
    )
    return Finding(printed is not None or repaired is None, shown)


def domain() -> Finding:
    """1/w for smaller and smaller w."""
    values = [1 / w for w in (1e-3, 1e-6, 1e-9)]
    return Finding(values[-1] <= values[0], f"1/w at w = 1e-3, 1e-6, 1e-9: {values}")


def released() -> Finding:
    """The same jobs, charged by reservation and by use."""
    reserved, used = (
        best_value(f"smd/tiny/e5_{charged}_16.json", "cg_core") for charged in ("reserved", "used")
    )
    shown = f"optimum {reserved:.6g} if reservations are charged, {used:.6g} if use is"
    return Finding(reserved == used, shown)


def one_job() -> Finding:
    """The best pair by O(P) steps and by all pairs."""
    instance: SmdInstance = witness("smd/tiny/e2_sync.json")
    (job,) = instance.jobs
    found, table = best_pair(job), pairs(job)
    assert found is not None
    best = float(table.tau_s.min())
    shown = f"{found.tau_s:g} s by one step for each number of servers, {best:g} s by all pairs"
    return Finding(not math.isclose(found.tau_s, best), shown)


def probability() -> Finding:
    """Failures of four rows, each with the probability of one."""
    delta = 0.1
    one, four = delta / 8, 4 * delta / 8
    shown = f"delta = {delta:g}: one row fails with up to {one:g}, one of four with up to {four:g}"
    return Finding(four <= one, shown)


def vacuous() -> Finding:
    """The ratio of Theorem 6 as a number."""
    instance: SmdInstance = witness("smd/tiny/e2_sync.json")
    ratio = theorem_6_ratio(instance, find_method(problem("smd"), "smd").all_parameters)
    shown = "the ratio exceeds every double" if ratio is None else f"the ratio is {ratio:.3g}"
    return Finding(ratio is not None and math.isfinite(ratio), shown)


def figures_9_10() -> Finding:
    """How far the plotted values lie above the mean sum of all upper bounds."""
    jobs = 200
    mean = jobs * (_LEAST + _MOST) / 2
    deviation = math.sqrt(jobs * ((_MOST - _LEAST + 1) ** 2 - 1) / 12)
    far = [(value - mean) / deviation for value in (13991, 16101)]
    shown = (
        f"the sum of all upper bounds has mean {mean:g} and deviation {deviation:.0f}; the plotted "
        f"values are {far[0]:.1f} and {far[1]:.1f} deviations above it"
    )
    return Finding(max(far) <= _FAR, shown)


def theorem_3() -> Finding:
    """Algorithm 3 beside the optimum."""
    return tested_ratio("smd/tiny/e5_reserved_16.json", "Theorem 3", "algorithm_3", "cg_core")
