"""Instances and solutions: one batch of jobs, and the servers of each job's tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gadgetopt.system.data import NonNegativeInt, PositiveInt, Solution

from ..subproblems.cluster import ClusterInstance, size

__all__ = ["PlacementInstance", "PlacementSolution", "size"]


class PlacementInstance(ClusterInstance):
    """A cluster and one batch of jobs that start together.

    Arrival times say in which order first-come-first-served rules take the jobs, no more.
    """


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
