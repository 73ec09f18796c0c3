"""Size limits of methods that enumerate slots or GPUs.

Evaluator and bounds work on the instants at which something changes, whatever the number of slots,
and the CP models count the GPUs of a server. Methods that enumerate slots or GPUs check here first,
and refuse instances that are too large.
"""

from __future__ import annotations

import math

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.memory import MOST_CELLS

from .instance import SjfBcoInstance

#: Limit on GPUs that are listed one by one, at which a run takes about a gigabyte.
MOST_LISTED_GPUS = MOST_CELLS // 5
#: Limit on the terms of a model with variables per slot, at which Pyomo takes about 2 GB.
MOST_TERMS = MOST_CELLS // 2
#: Limit on jobs times servers of a model without slots, at which CP-SAT's takes about a gigabyte.
MOST_PAIRS = MOST_CELLS // 20


def refuse_many(count: int, most: int, what: str) -> None:
    """Refuse `what` if its count exceeds the limit.

    Raises
    ------
    ModelRefused
    """
    if count > most:
        shown = f"{count:,}" if count < 10**15 else f"10^{math.floor(math.log10(count))}"
        raise ModelRefused(f"{what}: {shown}, expected at most {most:,}")


def refuse_many_gpus(instance: SjfBcoInstance) -> None:
    """Refuse a cluster with too many GPUs to list one by one."""
    refuse_many(instance.total_gpus, MOST_LISTED_GPUS, "server_gpus: GPUs to be listed one by one")


def refuse_many_slots(instance: SjfBcoInstance, slots: int, most: int = MOST_TERMS) -> None:
    """Refuse a model with variables per job, server and slot if it is too large.

    Most of its terms belong to contention levels: for every slot, server and job, a sum over the
    jobs that can be spread.
    """
    jobs, servers = len(instance.jobs), len(instance.server_gpus)
    spreadable = sum(instance.rates.server_counts(j)[-1] >= 2 for j in range(jobs))
    terms = slots * jobs * (servers * (spreadable + 4) + 8)
    what = f"{jobs:,} jobs on {servers:,} servers in {slots:,} slots: terms if written slot by slot"
    refuse_many(terms, most, what)


def refuse_many_pairs(instance: SjfBcoInstance) -> None:
    """Refuse a model with variables per job and server if it is too large."""
    pairs = len(instance.jobs) * len(instance.server_gpus)
    refuse_many(pairs, MOST_PAIRS, "jobs times servers: variables of one kind in a model")
