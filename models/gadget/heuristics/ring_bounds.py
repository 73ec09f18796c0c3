"""Ring size limits q_i[t] from a relaxation, as the paper describes them.

The paper takes q_i[t] as the rounded-up allocation of the job in "the continuous relaxation" of the
joint problem. Online we read this (reconstructed) as the relaxation of the present jobs over the
remaining slots: only total capacity counts (proposition P3), and with concave envelopes it has a
closed form. The allocation is spread evenly over these slots. It is not a valid bound: jobs
compete, and a job that the relaxation leaves out gets no ring although the optimum may serve it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats

from ..subproblems.hull import fractional_choice
from ..terms import Terms

#: Allocations this close above an integer are rounded down to it. Tuned: `benchmarks/constants.py`.
WHOLE = 1e-9


def relaxed_rings(
    terms: Terms, slot: int, done: Sequence[int], tables: Sequence[Floats], largest: Sequence[int]
) -> list[int]:
    """Return q_i[t] of all jobs; 0 for jobs that are not present.

    Parameters
    ----------
    terms : Terms
    slot : int
    done : sequence of int
        Worker-slots of every job before this slot.
    tables : sequence of array
        Utilities to use, concave.
    largest : sequence of int
        A limit on the ring of each job in any case.

    Raises
    ------
    ModelRefused
        If there are several resources.
    """
    if terms.capacity.shape[1] != 1:
        raise ModelRefused("gadget_relaxed_rings: several resources, expected one")
    slots = terms.horizon - slot + 1
    here = [job for job in terms.jobs if job.arrival <= slot and done[job.index] < job.max_total]
    gains = []
    for job in here:
        z = done[job.index]
        most = min(largest[job.index] * slots, job.max_total - z)
        gains.append(tables[job.index][z : z + most + 1] - tables[job.index][z])
    demands = [int(job.demand[0]) for job in here]
    choice = fractional_choice(gains, demands, slots * int(terms.capacity.sum()))
    rings = [0] * len(terms.jobs)
    for job, share in zip(here, choice.shares, strict=True):
        allocated = sum(k * part for k, part in share.items())
        rings[job.index] = min(largest[job.index], math.ceil(allocated / slots - WHOLE))
    return rings
