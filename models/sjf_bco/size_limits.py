"""What is too large to be written down slot by slot or GPU by GPU is refused before it is begun.

Evaluator and bounds work on the instants at which something changes, whatever the number of slots,
and the CP models count the GPUs of a server. What lists slots or GPUs says here how many it lists.
"""

from __future__ import annotations

import math

from gadgetopt.errors import ModelRefused

from .instance import SjfBcoInstance

#: GPUs of a cluster that are listed one by one: a run takes about a gigabyte for so many.
MOST_LISTED_GPUS = 4_000_000
#: Terms of a model with variables per slot; Pyomo takes about 2 GB for so many.
MOST_TERMS = 10_000_000


def refuse_many(count: int, most: int, what: str) -> None:
    """Refuse what has more parts than can be written down.

    Raises
    ------
    ModelRefused
    """
    if count > most:
        shown = f"{count:,}" if count < 10**15 else f"10^{math.floor(math.log10(count))}"
        raise ModelRefused(f"{what}: {shown}, expected at most {most:,}")


def refuse_many_gpus(instance: SjfBcoInstance) -> None:
    """Refuse to list the GPUs of a cluster that has too many."""
    refuse_many(instance.total_gpus, MOST_LISTED_GPUS, "server_gpus: GPUs to be listed one by one")


def refuse_many_slots(instance: SjfBcoInstance, slots: int, most: int = MOST_TERMS) -> None:
    """Refuse to write a model with variables for every job, server and slot that is too large.

    Most of its terms are those of the contention levels: for every slot, server and job, a sum over
    the jobs that can be spread.
    """
    jobs, servers = len(instance.jobs), len(instance.server_gpus)
    spreadable = sum(instance.rates.server_counts(j)[-1] >= 2 for j in range(jobs))
    terms = slots * jobs * (servers * (spreadable + 4) + 8)
    what = f"{jobs:,} jobs on {servers:,} servers in {slots:,} slots: terms if written slot by slot"
    refuse_many(terms, most, what)
