"""Instances and solutions: one batch of jobs, and the servers of each job's tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from pydantic import model_validator

from gadgetopt.system.data import NonNegativeInt, PositiveInt, Solution

from ..subproblems.cluster import ClusterInstance, size

__all__ = ["PlacementInstance", "PlacementSolution", "size"]


class PlacementInstance(ClusterInstance):
    """A cluster and one batch of jobs that start together.

    Arrival times say in which order first-come-first-served rules take the jobs, no more. Boards,
    networks and gradients are those of `marl_queueing`.
    """

    @model_validator(mode="after")
    def _servers_are_plain(self) -> Self:
        for s, server in enumerate(self.servers):
            if server.board or server.address:
                raise ValueError(
                    f"servers[{s}]: has a board or an address, expected none: "
                    "only marl_queueing knows them"
                )
        for j, job in enumerate(self.jobs):
            if job.gradient_gbytes:
                raise ValueError(
                    f"jobs[{j}].gradient_gbytes: {job.gradient_gbytes}, expected 0: "
                    "only marl_queueing knows gradients"
                )
        return self


class PlacementSolution(Solution):
    """Where the tasks of every job are.

    Attributes
    ----------
    tasks : tuple, shape (jobs,)
        Of every job the pairs (server, number of its tasks there), each server at most once.
    """

    tasks: tuple[tuple[tuple[NonNegativeInt, PositiveInt], ...], ...]

    @classmethod
    def of(cls, tasks: Sequence[Mapping[int, int]]) -> PlacementSolution:
        """Return the solution with these tasks of every job by server; zeros are left out."""
        return cls(tasks=tuple(tuple(sorted((s, n) for s, n in t.items() if n)) for t in tasks))
