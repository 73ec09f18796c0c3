"""Schedules as mappings slot by slot, and their conversion to solutions."""

from __future__ import annotations

from dataclasses import dataclass

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
