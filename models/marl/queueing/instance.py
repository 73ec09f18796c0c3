"""Instances and solutions: jobs that arrive over time, and what lies where in every slot."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Self

from pydantic import Field, model_validator

from gadgetopt.system.data import Data, NonNegativeInt, PositiveInt, Solution

from ..subproblems.cluster import ClusterInstance, PositiveRational
from ..subproblems.cluster import size as cluster_size

#: Most slots of an instance.
MOST_SLOTS = 10**6


class QueueingInstance(ClusterInstance):
    """A cluster, jobs that arrive over time, and the slots in which they may run.

    Attributes
    ----------
    slot_s : Rational
        Delta: length of a slot. Slot k begins at k times this.
    num_slots : int
        All jobs have to be finished by the end of the last slot.
    migration : bool
        True if a job may lie elsewhere in every slot, or wait again; else it stays where it starts
        until it is finished.
    """

    slot_s: PositiveRational
    num_slots: Annotated[PositiveInt, Field(le=MOST_SLOTS)]
    migration: bool = True

    @cached_property
    def first_slots(self) -> tuple[int, ...]:
        """The first slot that begins no earlier than each job's arrival."""
        slots = [job.arrival_s / self.slot_s for job in self.jobs]
        return tuple(-(-slot.numerator // slot.denominator) for slot in slots)

    @model_validator(mode="after")
    def _jobs_arrive_before_the_last_slot(self) -> Self:
        for j, slot in enumerate(self.first_slots):
            if slot >= self.num_slots:
                raise ValueError(
                    f"jobs[{j}].arrival_s: {self.jobs[j].arrival_s}, expected no later than the "
                    f"beginning of the last of the {self.num_slots} slots"
                )
        return self


class Running(Data):
    """A job that runs in a slot.

    Attributes
    ----------
    job : int
    tasks : tuple
        Pairs (server, number of the job's tasks there), each server at most once.
    """

    job: NonNegativeInt
    tasks: Annotated[tuple[tuple[NonNegativeInt, PositiveInt], ...], Field(min_length=1)]


class QueueingSolution(Solution):
    """The jobs that run in each slot and where.

    Attributes
    ----------
    slots : tuple of tuple of Running
        From slot 0 on; nothing runs in the slots after the last one given.
    """

    slots: tuple[tuple[Running, ...], ...]


def size(instance: QueueingInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    return {**cluster_size(instance), "slots": instance.num_slots}
