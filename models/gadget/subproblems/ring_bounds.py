"""The largest ring of a job in a slot as the paper reads off a relaxation (reconstructed).

The paper takes q_i[t] as the rounded-up allocation of the job in "the continuous relaxation" of the
joint problem. Online that is the relaxation over the slots left of the jobs that are there: by P3
total capacity alone counts, and with concave envelopes it has a closed form. The allocation is
spread evenly over these slots. It is no bound: jobs compete, and one that the relaxation leaves out
gets no ring although the optimum may serve it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats

from ..terms import Terms
from .hull import fractional_choice

#: Allocations this little above a whole number are that number.
WHOLE = 1e-9


def relaxed_rings(
    terms: Terms, slot: int, done: Sequence[int], tables: Sequence[Floats], largest: Sequence[int]
) -> list[int]:
    """Return q_i[t] of all jobs, 0 of those that are not there.

    Parameters
    ----------
    terms : Terms
    slot : int
    done : sequence of int
        Worker-slots of every job before this slot.
    tables : sequence of array
        Utilities to go by.
    largest : sequence of int
        The largest ring that each job may have in any case.

    Raises
    ------
    ModelRefused
        If there are several resources.
    """
    if terms.capacity.shape[1] != 1:
        raise ModelRefused("q_mode=lp_paper: several resources, expected one")
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
