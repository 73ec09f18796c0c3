"""Lemmas, algorithms and theorems of the paper, checked on counterexamples."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.system.methods import find_method
from gadgetopt.trust.statements import Finding, changed, objective, tested_ratio

from ..algorithms.grid_search import Grid, grid_search
from ..algorithms.theorem_values import theorem_6_log_ratio
from ..instance import SmdInstance
from ..iteration_time import critical_path
from .iterations import by_priority, without_waiting

GRIDS: tuple[Grid, Grid] = ("as_printed", "repaired")
#: Accuracy of both grids, the `eps_inner` of the command.
EPS = 0.95

#: A ratio beyond 10 to this power says nothing.
BEYOND = 300


@statement(
    source="Lemma 2, layers by priority",
    statement="the iteration time by priority is the printed recursion",
    grade="refuted",
    repair=(
        "(P): the largest, over layers q, of what must come before q and after it; e_j "
        "= e_1 + Delta_j"
    ),
    proof=(
        "Delta_j is the backlog of layers 2 to j already; (P) is what an event "
        "simulation gives on 3000 random profiles "
        "(tests/models/smd/test_iteration_time.py)"
    ),
)
def lemma_2(document: Document) -> Finding:
    """Three layers by the printed recursion, by the corrected one, and simulated."""
    (job,) = document.data.jobs
    printed = critical_path(job.layers, "priority", job.slice_s, "as_printed").total_s
    corrected = critical_path(job.layers, "priority", job.slice_s).total_s
    simulated = float(by_priority(job.layers, job.slice_s))
    shown = f"printed {printed:g} s, simulated {simulated:g} s, corrected {corrected:g} s"
    return Finding(printed == simulated or corrected != simulated, shown)


@statement(
    source="Lemma 1, layers without waiting",
    statement="the iteration time is the printed recursion",
    proof=(
        "what an event simulation gives on 3000 random profiles "
        "(tests/models/smd/test_iteration_time.py)"
    ),
)
def lemma_1(document: Document) -> Finding:
    """Three layers by the recursion and simulated."""
    (job,) = document.data.jobs
    printed = critical_path(job.layers, "wait_free").total_s
    simulated = float(without_waiting(job.layers))
    return Finding(printed == simulated, f"recursion {printed:g} s, simulated {simulated:g} s")


@statement(
    source="Algorithm 1, the grid of the ratios",
    statement="the printed grid has a feasible point wherever the problem has one",
    grade="refuted",
    repair="append the greatest value of every ratio to its grid",
    proof=(
        "then the next grid value above each ratio of an optimum is within 1 + epsilon "
        "of it, and the optimum is feasible there"
    ),
    command="solve {} --method smd_as_printed:eps_inner=0.95",
)
def grid(document: Document) -> Finding:
    """Algorithm 1 on both grids."""
    (job,) = document.data.jobs
    printed, repaired = (grid_search(job, EPS, grid=grid) for grid in GRIDS)
    found = "none" if repaired is None else f"({repaired.point.w:g}, {repaired.point.p:g})"
    shown = (
        f"with epsilon {EPS:g} the printed grid has {'no' if printed is None else 'a'} feasible "
        f"point, the repaired one has {found}"
    )
    return Finding(printed is not None or repaired is None, shown)


@statement(
    source="TR, the set Omega with x >= 0",
    statement="every ratio has a positive least and a finite greatest value over Omega",
    grade="refuted",
    repair="w, p >= 1",
    proof="Omega is compact then, and all ratios are positive and continuous on it",
)
def domain_of_workers(document: Document) -> Finding:
    """The least values of w over the corners of both sets, and 1/w for smaller and smaller w."""
    (job,) = document.data.jobs
    (O,), (G,), (v,) = (  # noqa: E741  # the paper's letters
        [decimal_rational(x) for x in amounts]
        for amounts in (job.worker_demand, job.ps_demand, job.reservation_limit)
    )
    least = {}
    for low in (Fraction(0), Fraction(1)):
        corners = [(low, low), ((v - G * low) / O, low), (low, (v - O * low) / G)]
        least[low] = min(w for w, _ in corners)
    inside = [Fraction(1, n) for n in (10, 1000, 100000) if O * Fraction(1, n) <= v]
    shown = (
        f"least w: {least[Fraction(0)]} if w, p >= 0 and {least[Fraction(1)]} if w, p >= 1; 1/w is "
        f"{', '.join(str(1 / w) for w in inside)} at smaller and smaller w, and undefined at 0"
    )
    return Finding(least[Fraction(0)] > 0, shown)


@statement(
    source="the text beside (2)",
    statement="what a job does not use of its reservation is free for other jobs",
    grade="contradiction",
    repair="two problems: reservations are charged (F1), or use is (F4)",
    proof="(2) has no w and no p: whatever a job uses, its reservation is charged",
    command="solve {} --method cg_core",
)
def released_resources(document: Document) -> Finding:
    """The same jobs, charged by reservation and by use."""
    reserved = objective(document, "cg_core")
    used = objective(changed(document, charging="used"), "cg_core")
    shown = f"optimum {reserved:.6g} if reservations are charged, {used:.6g} if use is"
    return Finding(reserved == used, shown)


@statement(
    source="Algorithm 3, line 12",
    statement="if a set of jobs does not fit, the algorithm returns 'infeasible'",
    grade="refuted",
    repair="go on with the next set",
    proof=("models/knapsack/guarantees/ratios.py: Frieze and Clarke's proof uses feasible sets"),
    command="solve {} --method algorithm_3",
)
def algorithm_3_line_12(document: Document) -> Finding:
    """The sets of Algorithm 3 in turn, up to the first that does not fit."""
    instance: SmdInstance = document.data
    jobs = range(len(instance.jobs))
    rows = range(len(instance.capacity))
    sets = (s for k in jobs for s in itertools.combinations(jobs, k + 1))
    misfit = next(
        (
            s
            for s in sets
            if any(
                sum(decimal_rational(instance.jobs[i].reservation_limit[r]) for i in s)
                > decimal_rational(instance.capacity[r])
                for r in rows
            )
        ),
        None,
    )
    best = objective(document, "cg_core")
    named = " and ".join(map(str, misfit or ()))
    shown = f"jobs {named} do not fit together: 'infeasible'; the optimum is {best:.6g}"
    return Finding(misfit is None, shown)


@statement(
    source="Theorem 6, its ratio",
    statement="the ratio says something for the sigmoids of the experiments",
    grade="refuted",
    repair="job by job with factors 4/M or 2 instead of (24/M + 4)/delta",
    proof="B1, B2 in models/smd/guarantees/ratios.py",
)
def theorem_6_ratio(document: Document) -> Finding:
    """The ratio of Theorem 6, by logarithms."""
    instance: SmdInstance = document.data
    parameters = find_method(document.problem, "smd:delta=1").all_parameters
    log_ratio = theorem_6_log_ratio(instance, parameters)
    if log_ratio is None:
        raise ModelRefused("theorem 6: no ratio with these parameters")
    power = log_ratio / math.log(10)
    return Finding(power <= BEYOND, f"with delta = 1 the ratio is 10^{power:.0f}")


@statement(
    source="Theorem 3",
    statement="Algorithm 3 has at least k/(k + R) of the optimum on given utilities",
    proof="models/knapsack/guarantees/ratios.py",
    command="compare {} --methods algorithm_3,cg_core",
)
def theorem_3(document: Document) -> Finding:
    """Algorithm 3 beside the optimum."""
    return tested_ratio(document, "Theorem 3", "algorithm_3", "cg_core")
