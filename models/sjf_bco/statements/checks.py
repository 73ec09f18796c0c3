"""The statements of the paper, checked on small instances."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from gadgetopt.trust.statements import Finding, tested_ratio, witness

from ..generate.presets import paper
from ..instance import SjfBcoInstance

_THREE_JOBS = "sjf_bco/tiny/e4a_three_jobs.json"


def theorem_5() -> Finding:
    """A schedule of three jobs that is better by half than the theorem allows."""
    return tested_ratio(_THREE_JOBS, "Theorem 5", "sjf_bco", "ladder")


def corrected() -> Finding:
    """The corrected guarantee on the same three jobs."""
    call = "sjf_bco:seed_unbounded=true"
    return tested_ratio(_THREE_JOBS, "corrected", call, "ladder")


def lemma_4() -> Finding:
    """Loads of two GPUs: one job after the other, and the best of all assignments."""
    instance: SjfBcoInstance = witness("sjf_bco/tiny/e4b_five_jobs.json")
    lengths = sorted(int(d) for d in instance.rates.exec_min)
    loads = [0, 0]
    for length in lengths:
        loads[loads.index(min(loads))] += length
    sides = itertools.product((0, 1), repeat=len(lengths))
    of_one = [sum(itertools.compress(lengths, side)) for side in sides]
    best = min(max(load, sum(lengths) - load) for load in of_one)
    shown = f"jobs of {lengths} slots on 2 GPUs: least loaded first {max(loads)}, best {best}"
    return Finding(max(loads) == best, shown)


def equation_5() -> Finding:
    """Two jobs of two GPUs on two servers: on every server, or each on its own."""
    instance: SjfBcoInstance = witness("sjf_bco/tiny/e1_co_locate.json")
    servers, rates = len(instance.server_gpus), instance.rates
    own, together, alone = (
        [
            math.ceil(Fraction(job.iterations, rates.rate(j, r, p)))
            for j, job in enumerate(instance.jobs)
        ]
        for r, p in ((1, 0), (servers, 2), (servers, 1))
    )
    everywhere = min(max(together), sum(alone))
    shown = f"makespan {max(own)} if jobs may stay on one server, {everywhere} on all servers"
    return Finding(everywhere <= max(own), shown)


def equation_9() -> Finding:
    """Slots until (9) counts enough iterations, if the slot of completion counts too."""
    instance: SjfBcoInstance = witness(_THREE_JOBS)
    job, rate = instance.jobs[2], instance.rates.rate(2, 1, 0)
    needed = math.ceil(Fraction(job.iterations, rate))
    counted = next(n for n in itertools.count() if rate * (n + 1) >= job.iterations)
    shown = (
        f"{job.iterations} iterations at {rate} a slot take {needed} slots, (9) is content with "
        f"{counted}"
    )
    return Finding(counted == needed, shown)


def degradation() -> Finding:
    """The factor f of the bandwidth where one spread job has the link for itself."""
    instance: SjfBcoInstance = witness("sjf_bco/tiny/e2_contention_pays.json")
    printed = instance.model_copy(
        update={"clamp_contention": False, "contention_coeff": 0.5, "degradation_alpha": 0.2}
    )
    factor = printed.rates.degradation(1)
    shown = f"xi_1 = 0.5, alpha = 0.2, p = 1: the link's bandwidth is divided by {float(factor):g}"
    return Finding(factor >= 1, shown)


def figure_5() -> Finding:
    """The jobs that the thresholds 8 and 10 tell apart."""
    sizes = {job.gpus for job in paper(np.random.default_rng(0)).jobs}
    between = [size for size in sizes if 8 < size <= 10]
    shown = f"sizes {sorted(sizes)}: {len(between)} between the thresholds, so the runs are equal"
    return Finding(bool(between), shown)
