"""The rings of all slots, as what decides slot by slot makes them."""

from __future__ import annotations

from dataclasses import dataclass

from gadgetopt.numbers.arrays import Ints

from ..instance import GadgetSolution
from ..terms import Terms
from .slot_problem import Mapping, ring


@dataclass(frozen=True)
class Schedule:
    """Rings of every slot and how far they come.

    Attributes
    ----------
    mappings : tuple of tuple of Mapping
        Of every slot, from the first.
    done : array of int, shape (jobs,)
        Worker-slots of each job.
    """

    mappings: tuple[tuple[Mapping, ...], ...]
    done: Ints


def as_solution(terms: Terms, schedule: Schedule) -> GadgetSolution:
    """Return the rings of all slots."""
    return GadgetSolution(
        rings=tuple(
            ring(terms, t, mapping)
            for t, placed in enumerate(schedule.mappings, start=1)
            for mapping in placed
        )
    )
