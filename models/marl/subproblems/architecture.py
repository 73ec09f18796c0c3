r"""The inside of servers and the network between them: what a gang's gradients pay (reconstructed).

A job with N GPUs sends :math:`V_j = 2\frac{N-1}{N}h_j` GBytes an iteration round a ring over all of
them, :math:`h_j` being its gradients. A ring is as fast as its slowest hop; inside a server see
`pieces.server_boards`. Servers at level L of the network are :math:`\mathrm{hops}_L` hops of
:math:`h` seconds from each other, and share its links by the oversubscription :math:`o_L`:

.. math::
    \beta_j(L) = \frac{V_j o_L}{\mathrm{NIC}} + 2 (N - 1)\, \mathrm{hops}_L\, h.

Links that several jobs share are no slower for it.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gadgetopt.pieces.server_boards import Board
from gadgetopt.system.data import Data, NonNegativeRational, PositiveInt, PositiveRational
from gadgetopt.system.result import Violation

from .cluster import ClusterInstance

#: GPUs of a job by server.
Seats = dict[int, tuple[int, ...]]


class BoardedInstance(ClusterInstance):
    """A cluster whose servers may have an inside.

    Attributes
    ----------
    boards : tuple of Board
        Of which each server has one; none: the inside of servers costs nothing.
    """

    boards: tuple[Board, ...] = ()

    @cached_property
    def rings_gbytes(self) -> tuple[Fraction, ...]:
        """V_j of each job."""
        return tuple(
            ring_gbytes(job.gradient_gbytes, job.num_tasks * job.gpus_per_task) for job in self.jobs
        )

    def inside_s(self, j: int, seats: Mapping[int, Collection[int]]) -> Fraction:
        """Return what an iteration of a job pays for the slowest of its rings inside servers."""
        rings = [
            self.boards[self.servers[s].board].ring_gbytes_s(gpus)
            for s, gpus in seats.items()
            if len(gpus) > 1
        ]
        return self.rings_gbytes[j] / min(rings) if rings else Fraction(0)

    @model_validator(mode="after")
    def _servers_have_known_boards(self) -> Self:
        for s, server in enumerate(self.servers):
            if not self.boards and server.board:
                raise ValueError(f"servers[{s}].board: {server.board}, but there are no boards")
            if self.boards and server.board >= len(self.boards):
                raise ValueError(
                    f"servers[{s}].board: {server.board}, expected less than the "
                    f"{len(self.boards)} boards"
                )
            if self.boards and self.boards[server.board].gpus != server.gpus:
                raise ValueError(
                    f"servers[{s}].gpus: {server.gpus}, but its board has "
                    f"{self.boards[server.board].gpus}"
                )
        return self


def wrong_seats(
    instance: BoardedInstance,
    before: str,
    named: Iterable[tuple[int, Sequence[tuple[int, int]], Sequence[Sequence[int]]]],
) -> Iterator[Violation]:
    """Yield the GPUs that jobs cannot have at one time.

    Parameters
    ----------
    instance : BoardedInstance
    before : str
        With which the place of a violation begins.
    named : iterable
        Of each job its number, its pairs (server, tasks), and its GPUs on each.
    """
    taken: Counter[tuple[int, int]] = Counter()
    for j, tasks, gpu_sets in named:
        where = f"{before}job {j}"
        if not instance.boards or len(gpu_sets) != len(tasks):
            expected = len(tasks) if instance.boards else 0
            yield Violation("gpu_sets", where, abs(len(gpu_sets) - expected))
            continue
        for (s, n), gpus in zip(tasks, gpu_sets, strict=True):
            if j >= len(instance.jobs) or s >= len(instance.servers):
                continue
            need = n * instance.jobs[j].gpus_per_task
            wrong = abs(len(set(gpus)) - need) + len(gpus) - len(set(gpus))
            wrong += sum(g >= instance.servers[s].gpus for g in gpus)
            if wrong:
                yield Violation("gpu_set", f"{where}, server {s}", wrong)
            taken.update((s, g) for g in set(gpus))
    for (s, g), times in taken.items():
        if times > 1:
            yield Violation("shared_gpu", f"{before}server {s}, GPU {g}", times - 1)


class Network(Data):
    """What lies between servers; each has an address of digits.

    Attributes
    ----------
    kind : "tree" or "cube"
        Servers of one address are at level 1. In a tree others are at 1 and the number of digits
        from the first that differs on; in a cube, where every server has an address of its own, at
        the number of digits that differ.
    nic_gbytes_s : Rational
        GBytes per second of a server's network card.
    hops : tuple of int
        Of a path, by level from 1 on.
    oversubscription : tuple of Rational
        By level from 1 on: what is sent takes so many times as long.
    hop_s : Rational
        Seconds of a hop.
    """

    kind: Literal["tree", "cube"]
    nic_gbytes_s: PositiveRational
    hops: Annotated[tuple[PositiveInt, ...], Field(min_length=1)]
    oversubscription: tuple[PositiveRational, ...]
    hop_s: NonNegativeRational = Fraction(0)

    @property
    def levels(self) -> int:
        """Number of levels."""
        return len(self.hops)

    @property
    def digits(self) -> int:
        """Digits of an address."""
        return self.levels - 1 if self.kind == "tree" else self.levels

    def level(self, here: tuple[int, ...], there: tuple[int, ...]) -> int:
        """Return the level of two different servers by their addresses."""
        differ = [a != b for a, b in zip(here, there, strict=True)]
        if self.kind == "cube" or not any(differ):
            return max(1, sum(differ))
        return 1 + len(differ) - differ.index(True)

    @model_validator(mode="after")
    def _farther_is_no_cheaper(self) -> Self:
        if len(self.oversubscription) != self.levels:
            raise ValueError(
                f"oversubscription: {len(self.oversubscription)} levels, expected "
                f"{self.levels} as in hops"
            )
        for name in ("hops", "oversubscription"):
            values = getattr(self, name)
            for level, (near, far) in enumerate(itertools.pairwise(values), start=1):
                if far < near:
                    raise ValueError(f"{name}[{level}]: {far}, expected no less than {near}")
        return self


def ring_gbytes(gradient_gbytes: Fraction, gpus: int) -> Fraction:
    """Return V_j, what a ring over so many GPUs sends in an iteration."""
    return 2 * Fraction(gpus - 1, gpus) * gradient_gbytes if gpus > 1 else Fraction(0)
