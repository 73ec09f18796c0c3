"""Schedules as mappings slot by slot, and their conversion to solutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ..instance import GadgetSolution
from ..terms import Terms
from .slot_problem import Mapping, ring


@dataclass(frozen=True)
class Schedule:
    """Rings of every slot and the worker-slots they add up to.

    Attributes
    ----------
    mappings : tuple of tuple of Mapping
        The rings of every slot, from the first.
    done : array of int, shape (jobs,)
        Worker-slots of each job.
    """

    mappings: tuple[tuple[Mapping, ...], ...]
    done: Ints


def as_solution(terms: Terms, schedule: Schedule) -> GadgetSolution:
    """Return a schedule as a solution."""
    return GadgetSolution(
        rings=tuple(
            ring(terms, t, mapping)
            for t, placed in enumerate(schedule.mappings, start=1)
            for mapping in placed
        )
    )


def trimmed(placed: Sequence[Sequence[Mapping]], most: Ints) -> Schedule:
    """Return the schedule of rings without surplus workers, which the last rings of jobs lose.

    Parameters
    ----------
    placed : sequence of sequence of Mapping
        The rings of every slot.
    most : array of int, shape (jobs,)
        The most worker-slots of each job.
    """
    done = np.zeros(len(most), dtype=np.int64)
    for mappings in placed:
        for mapping in mappings:
            done[mapping.job] += mapping.size
    surplus = np.maximum(0, done - most)
    slots = []
    for mappings in reversed(placed):
        kept = []
        for mapping in mappings:
            over = min(int(surplus[mapping.job]), mapping.size)
            surplus[mapping.job] -= over
            done[mapping.job] -= over
            workers: list[tuple[int, int]] = []
            for s, n in mapping.workers:
                out = min(over, n)
                over -= out
                if n > out:
                    workers.append((s, n - out))
            if workers:
                kept.append(Mapping(mapping.job, tuple(workers)))
        slots.append(tuple(kept))
    return Schedule(tuple(reversed(slots)), done)
