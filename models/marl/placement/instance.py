"""Instances and solutions: one batch of jobs, and the servers of each job's tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import SerializerFunctionWrapHandler, model_serializer, model_validator

from gadgetopt.system.data import NonNegativeInt, PositiveInt, Solution, without

from ..subproblems.architecture import BoardedInstance
from ..subproblems.cluster import size

__all__ = ["PlacementInstance", "PlacementSolution", "size"]


class PlacementInstance(BoardedInstance):
    """A cluster and one batch of jobs that start together.

    Arrival times say in which order first-come-first-served rules take the jobs, no more. Networks
    are those of `marl_queueing`.
    """

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write no boards if there are none: files from before them stay the same."""
        return without(write(self), self, "boards")

    @model_validator(mode="after")
    def _servers_have_no_addresses(self) -> Self:
        for s, server in enumerate(self.servers):
            if server.address:
                raise ValueError(
                    f"servers[{s}].address: there is one, expected none: "
                    "only marl_queueing knows networks"
                )
        return self


class PlacementSolution(Solution):
    """Where the tasks of every job are.

    Attributes
    ----------
    tasks : tuple, shape (jobs,)
        Of every job the pairs (server, number of its tasks there), each server at most once.
    gpus : tuple
        With boards: of every pair of every job the GPUs that the tasks have there. A solution that
        names none gives the jobs of a server, by number, the free GPUs with the fastest ring.
    """

    tasks: tuple[tuple[tuple[NonNegativeInt, PositiveInt], ...], ...]
    gpus: tuple[tuple[tuple[NonNegativeInt, ...], ...], ...] = ()

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write no GPUs if none are named: files from before them stay the same."""
        return without(write(self), self, "gpus")

    @classmethod
    def of(cls, tasks: Sequence[Mapping[int, int]]) -> PlacementSolution:
        """Return the solution with these tasks of every job by server; zeros are left out."""
        return cls(tasks=tuple(tuple(sorted((s, n) for s, n in t.items() if n)) for t in tasks))
