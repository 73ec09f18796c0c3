"""Theorem, lemmas and constraints of the paper, checked on counterexamples."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, changed, run, tested_ratio

from ..instance import SjfBcoInstance


@statement(
    source="Theorem 5",
    statement="the makespan of SJF-BCO is at most n_g phi (u/l) times the optimum",
    grade="refuted",
    repair="phi (1 + N/(N - n' + 1) + [some G_j > N/2]), with the run without load limit",
    proof="models/sjf_bco/guarantees/ratios.py",
    command="compare {} --methods sjf_bco,ladder",
)
def theorem_5(document: Document) -> Finding:
    """A schedule of three jobs that is better by half than the theorem allows."""
    return tested_ratio(document, "Theorem 5", "sjf_bco", "ladder")


@statement(
    source="corrected guarantee of this project",
    statement="the makespan is at most phi (1 + N/(N - n' + 1) + [some G_j > N/2]) OPT",
    proof="models/sjf_bco/guarantees/ratios.py",
    command="compare {} --methods sjf_bco_unbounded,ladder",
    reconstructed=True,
)
def corrected_guarantee(document: Document) -> Finding:
    """The corrected guarantee on the same three jobs."""
    return tested_ratio(document, "corrected", "sjf_bco_unbounded", "ladder")


@statement(
    source="Lemma 2",
    statement="the limit that Algorithm 1 ends with is the largest accumulated load of a GPU",
    grade="refuted",
    repair="the load is at most the limit",
    proof="every placement keeps the load within the limit",
)
def lemma_2(document: Document) -> Finding:
    """The limit at the end of Algorithm 1, and the loads of its schedule."""
    instance: SjfBcoInstance = document.data
    result = run(document, "sjf_bco")
    placement = result.solution.placement  # type: ignore[union-attr]
    lengths = instance.rates.exec_min.tolist()
    # Every job fills its server here, so all GPUs of a server have the same load.
    loads = [
        sum(d for d, used in zip(lengths, placement, strict=True) if s in used)
        for s in range(len(instance.server_gpus))
    ]
    filled = all(n == instance.server_gpus[s] for used in placement for s, n in used.items())
    best, theta = instance.horizon_slots, instance.horizon_slots
    for probe in result.notes["probes"]:
        if probe["makespan"] < best:
            best, theta = probe["makespan"], probe["theta"]
    shown = f"Algorithm 1 ends with the limit {theta}, the largest load of a GPU is {max(loads)}"
    return Finding(theta == max(loads) if filled else None, shown)


@statement(
    source="Lemma 4, the step on the least-loaded GPU",
    statement="placing every job on the GPU of least load minimises the largest load",
    grade="refuted",
    repair="a list schedule is within 2 - 1/m of the least load",
    proof="Graham 1966; parallel_machines/graham-1966",
    command="compare {} --methods sjf_bco,ladder",
)
def lemma_4(document: Document) -> Finding:
    """Loads of two GPUs: one job after the other, and the best of all assignments."""
    instance: SjfBcoInstance = document.data
    lengths = sorted(int(d) for d in instance.rates.exec_min)
    loads = [0, 0]
    for length in lengths:
        loads[loads.index(min(loads))] += length
    sides = itertools.product((0, 1), repeat=len(lengths))
    of_one = [sum(itertools.compress(lengths, side)) for side in sides]
    best = min(max(load, sum(lengths) - load) for load in of_one)
    sizes = ", ".join(map(str, lengths))
    shown = f"jobs of {sizes} slots on 2 GPUs: least loaded first {max(loads)}, best {best}"
    return Finding(max(loads) == best, shown)


@statement(
    source="(5), the domain of y",
    statement="an active job has a positive number of GPUs on every server",
    grade="contradiction",
    repair="y >= 0",
    proof="the text itself places jobs on one server",
    command="solve {} --method ladder",
)
def equation_5(document: Document) -> Finding:
    """Two jobs of two GPUs on two servers: on every server, and the optimum."""
    instance: SjfBcoInstance = document.data
    servers, rates = len(instance.server_gpus), instance.rates
    together, alone = (
        [
            math.ceil(Fraction(job.iterations, rates.rate(j, servers, level)))
            for j, job in enumerate(instance.jobs)
        ]
        for level in (2, 1)
    )
    everywhere = min(max(together), sum(alone))
    best = run(document, "ladder").objective
    shown = f"makespan {best} if jobs may stay on one server, {everywhere} on all servers"
    return Finding(best is None or everywhere <= best, shown)


@statement(
    source="(9) with J[t] = {j : a_j <= t <= T_j}",
    statement="a job that needs n slots completes n slots after its start",
    grade="refuted",
    repair="half-open: a_j <= t < T_j, summed from a_j on",
    proof="the slots a_j, ..., T_j - 1 are T_j - a_j many",
    command="solve {} --method ladder",
)
def equation_9(document: Document) -> Finding:
    """Slots until (9) counts enough iterations, if the slot of completion counts too."""
    instance: SjfBcoInstance = document.data
    (job,), rate = instance.jobs, instance.rates.rate(0, 1, 0)
    needed = run(document, "ladder").objective
    counted = next(n for n in itertools.count() if rate * (n + 1) >= job.iterations)
    shown = (
        f"{job.iterations} iterations at {rate} a slot take {needed} slots, (9) is content with "
        f"{counted}"
    )
    return Finding(counted == needed, shown)


@statement(
    source="f(alpha, k) = k + alpha (k - 1) with k = xi_1 p",
    statement="a spread job has at most the bandwidth of its link",
    grade="refuted",
    repair="k is at least 1",
    proof="f grows with k and is 1 at k = 1",
)
def degradation(document: Document) -> Finding:
    """The bandwidth of a spread job that has the link for itself."""
    instance: SjfBcoInstance = document.data
    link = decimal_rational(instance.inter_bw_mb_per_slot)
    factor = instance.rates.degradation(1)
    shown = (
        f"xi_1 = {instance.contention_coeff:g}, alpha = {instance.degradation_alpha:g}, one spread "
        f"job: f = {float(factor):g}, so it has {float(link / factor):g} MB a slot over a link of "
        f"{float(link):g}"
    )
    return Finding(factor >= 1, shown)


@statement(
    source="(8) beside the text on jobs on one server",
    statement="a job on one server has no overhead of connections",
    grade="contradiction",
    repair="the formula is kept; the option overhead_free_local reads the text",
    proof=("with one server the term is a constant of the job, so both readings are consistent"),
)
def local_overhead(document: Document) -> Finding:
    """The time of an iteration on one server by (8) and by the text."""
    by_text: SjfBcoInstance = changed(document, overhead_free_local=True).data
    formula, text = (data.rates.iteration_slots(0, 1, 0) for data in (document.data, by_text))
    shown = f"an iteration takes {float(formula):g} slots by (8), {float(text):g} by the text"
    return Finding(formula == text, shown)
