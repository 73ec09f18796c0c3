"""The statements, checked on counterexamples and in exact numbers."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.tolerance import decimal_rational, exceeds
from gadgetopt.pieces.rounding import packing_factor
from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.system.generation import find_generator
from gadgetopt.system.registry import problem
from gadgetopt.trust.statements import Finding, changed, objective, run, tested_ratio

from ..guarantees.ratios import DELTA, rounding_log_probability
from ..instance import PdOrsInstance

#: Probabilities below 10 to this power mean nothing.
MEANINGLESS = -6

#: Of two units of storage in which the ratio is measured.
GB_PER_TB = 1000


@statement(
    source="competitive ratio, exact kernel",
    statement="OPT/ALG is at most 2 max(1, ln(U/L)), whatever part of a machine a job takes",
    grade="refuted",
    repair="the theorem on small demands",
    proof="models/pd_ors/guarantees/ratios.py",
    command="compare {} --methods pd_ors,portfolio",
    reconstructed=True,
)
def competitive_ratio(document: Document) -> Finding:
    """Two jobs that each fill the only machine."""
    return tested_ratio(document, "Competitive ratio", "pd_ors", "portfolio")


@statement(
    source="an earlier correction of this project",
    statement="with ln(U/L) replaced by alpha-hat, steps at their true size, the ratio holds",
    grade="refuted",
    repair="the theorem on small demands, with prices raised to block what does not fit",
    proof="models/pd_ors/guarantees/ratios.py",
    command="compare {} --methods pd_ors,portfolio",
    reconstructed=True,
)
def corrected_constant(document: Document) -> Finding:
    """Two jobs that each take three units of four."""
    ours = run(document, "pd_ors")
    promised = float(ours.notes["corrected_ratio"])
    best = objective(document, "portfolio")
    if ours.objective is None:
        return Finding(None, f"pd_ors: {ours.state}")
    ratio = best / float(ours.objective)
    return Finding(not exceeds(ratio, promised), f"ratio {ratio:.7g}, promised {promised:.7g}")


@statement(
    source="the constants L and mu, which add up all resources",
    statement="what is accepted does not depend on the unit in which a resource is counted",
    grade="dimensions",
    repair="every resource is counted in parts of the largest machine: pd_ors_normalised",
    proof="these parts have no unit",
    command="compare {} --methods pd_ors,pd_ors_normalised,portfolio",
    reconstructed=True,
)
def unit_of_a_resource(document: Document) -> Finding:
    """The same cluster with its memory in terabytes and in gigabytes."""
    instance: PdOrsInstance = document.data

    def in_gb(amounts: tuple[float, ...]) -> tuple[float, ...]:
        return (amounts[0], amounts[1] * GB_PER_TB)

    machines = tuple({"capacity": in_gb(m.capacity)} for m in instance.machines)
    jobs = tuple(
        job.model_dump()
        | {"worker_demand": in_gb(job.worker_demand), "ps_demand": in_gb(job.ps_demand)}
        for job in instance.jobs
    )
    gigabytes = changed(document, resources=("unit", "memory_gb"), machines=machines, jobs=jobs)
    tb, gb = (objective(x, "pd_ors") for x in (document, gigabytes))
    normal = {objective(x, "pd_ors_normalised") for x in (document, gigabytes)}
    told = " and ".join(f"{x:g}" for x in sorted(normal))
    shown = f"utility {tb:g} with memory in TB, {gb:g} in GB; {told} with normalised resources"
    return Finding(tb == gb, shown)


@statement(
    source="competitive ratio with roundings, the probability (1 - delta)^(TKE)",
    statement="at the paper's sizes it is above one in a million, for delta = 1/2",
    grade="refuted",
    repair="none is known; the notes of a run give the probability",
    proof="T K E is about 10^9 there",
    reconstructed=True,
)
def probability() -> Finding:
    """The probability for the job of the most samples of the preset `paper`."""
    preset = find_generator(problem("pd_ors"), "paper", "preset")
    instance: PdOrsInstance = preset.generate(np.random.default_rng(0))
    power = rounding_log_probability(instance) / math.log(10)
    shown = f"preset paper, seed 0, delta = {DELTA:g}: the probability is 10^({power:.3g})"
    return Finding(power > MEANINGLESS, shown)


@statement(
    source="the rounding lemma, packing, for every width",
    statement=(
        "with G_delta as printed a packing row is violated with probability delta/3r at most"
    ),
    grade="refuted",
    repair=("for G_delta of 1/2 and more; below, a smaller factor where the width allows one"),
    proof="the tail exp(-eps^2 mu/3) needs eps <= 1; gadgetopt/pieces/rounding.py",
    reconstructed=True,
)
def rounding_lemma() -> Finding:
    """A hundred variables of a hundredth each, in one row that holds one of them.

    The sum of the roundings is binomial, and the row is violated if it is at least 2.
    """
    columns, rows, width, delta = 100, 1, 1, 1e-4
    factor = Fraction(packing_factor(rows, width, delta, tail="printed"))
    one = factor / columns
    none, single = (1 - one) ** columns, columns * one * (1 - one) ** (columns - 1)
    violated, allowed = float(1 - none - single), delta / (3 * rows)
    shown = (
        f"width {width}, delta = {delta:g}, G = {float(factor):.4f}: the row is violated with "
        f"probability {violated:.3g}, allowed {allowed:.3g}"
    )
    return Finding(violated <= allowed, shown)


@statement(
    source="Algorithm 4, rounding of a slot",
    statement="some rounding of an optimum of the linear program is a plan for the slot",
    grade="refuted",
    repair="the exact program over machines, the default of the method",
    proof=("it is an integer program for the slot itself: models/pd_ors/README.md, algorithms"),
    command="solve {} --method portfolio",
    reconstructed=True,
)
def roundings_are_plans(document: Document) -> Finding:
    """Every rounding of w = (3/2, 3/2, 0), s = (0, 0, 1)."""
    instance: PdOrsInstance = document.data
    (job,) = instance.jobs
    (a,), (b,) = (
        [decimal_rational(x) for x in demand] for demand in (job.worker_demand, job.ps_demand)
    )
    room = [decimal_rational(machine.capacity[0]) for machine in instance.machines]
    half = Fraction(3, 2)
    w, s, wanted = (half, half, Fraction(0)), (0, 0, 1), 3
    fits = all(a * x + b * y <= c for x, y, c in zip(w, s, room, strict=True))
    choices = [sorted({math.floor(x), math.ceil(x)}) for x in w]
    rounded = list(itertools.product(*choices))
    plans = [
        x
        for x in rounded
        if sum(x) >= wanted and all(a * n + b * m <= c for n, m, c in zip(x, s, room, strict=True))
    ]
    best = objective(document, "portfolio")
    shown = (
        f"w = (3/2, 3/2, 0) {'fits' if fits else 'does not fit'}; "
        f"of its {len(rounded)} roundings {len(plans)} are plans "
        f"for {wanted} workers; a plan exists, of utility {best:g}"
    )
    return Finding(not (fits and best > 0 and sum(w) >= wanted and not plans), shown)
