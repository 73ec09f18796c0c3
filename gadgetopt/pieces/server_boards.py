"""The inside of a server: sockets, PCIe switches, NVLinks, and rings over some of its GPUs.

A hop between two GPUs is as fast as the NVLink between them or, without one, as their PCIe switch,
their socket, or the link between sockets. A ring takes the cyclic order whose slowest hop is
fastest.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gadgetopt.system.data import Data, NonNegativeInt, PositiveRational

#: GPUs of each of several jobs.
Seating = tuple[tuple[int, ...], ...]

BoardName = Literal["none", "sockets", "nvlink_pairs", "cube_mesh"]

#: Most GPUs of a board: of so many all rings are tried, 16,000 for eight. By definition.
MOST_BOARD_GPUS = 8


class Board(Data):
    """The inside of a server.

    Attributes
    ----------
    sockets : tuple
        Of every socket its PCIe switches, of every switch its GPUs; they are numbered from 0.
    switch_gbytes_s, socket_gbytes_s, between_gbytes_s : Rational
        GBytes per second between two GPUs of a switch, of a socket, and of two sockets.
    nvlinks : tuple
        Triples (GPU, GPU, GBytes per second).
    """

    sockets: Annotated[tuple[tuple[tuple[NonNegativeInt, ...], ...], ...], Field(min_length=1)]
    switch_gbytes_s: PositiveRational
    socket_gbytes_s: PositiveRational
    between_gbytes_s: PositiveRational
    nvlinks: tuple[tuple[NonNegativeInt, NonNegativeInt, PositiveRational], ...] = ()

    @cached_property
    def gpus(self) -> int:
        """Number of GPUs."""
        return sum(len(switch) for socket in self.sockets for switch in socket)

    @cached_property
    def _switch_of(self) -> dict[int, tuple[int, int]]:
        return {
            gpu: (a, b)
            for a, socket in enumerate(self.sockets)
            for b, switch in enumerate(socket)
            for gpu in switch
        }

    @cached_property
    def _nvlink(self) -> dict[frozenset[int], Fraction]:
        return {frozenset((u, v)): speed for u, v, speed in self.nvlinks}

    def hop_gbytes_s(self, u: int, v: int) -> Fraction:
        """Return how fast one GPU sends to another."""
        nvlink = self._nvlink.get(frozenset((u, v)))
        if nvlink is not None:
            return nvlink
        here, there = self._switch_of[u], self._switch_of[v]
        if here == there:
            return self.switch_gbytes_s
        return self.socket_gbytes_s if here[0] == there[0] else self.between_gbytes_s

    @cached_property
    def _rings(self) -> dict[tuple[int, ...], Fraction]:
        return {}

    def ring_gbytes_s(self, gpus: Iterable[int]) -> Fraction:
        """Return how fast the best ring over two or more GPUs is."""
        key = tuple(sorted(gpus))
        if key not in self._rings:
            first, rest = key[0], key[1:]
            self._rings[key] = max(
                min(self.hop_gbytes_s(u, v) for u, v in itertools.pairwise((first, *order, first)))
                for order in itertools.permutations(rest)
            )
        return self._rings[key]

    @cached_property
    def fastest_gbytes_s(self) -> tuple[Fraction | None, ...]:
        """How fast the best ring over k GPUs is, by k; None for k below 2."""
        return (
            None,
            None,
            *(
                max(map(self.ring_gbytes_s, itertools.combinations(range(self.gpus), k)))
                for k in range(2, self.gpus + 1)
            ),
        )

    @model_validator(mode="after")
    def _gpus_are_numbered(self) -> Self:
        found = sorted(gpu for socket in self.sockets for switch in socket for gpu in switch)
        if len(found) > MOST_BOARD_GPUS:
            raise ValueError(f"sockets: {len(found)} GPUs, expected at most {MOST_BOARD_GPUS}")
        if found != list(range(len(found))):
            raise ValueError(f"sockets: GPUs {found}, expected every number from 0 once")
        linked: set[frozenset[int]] = set()
        for i, (u, v, _) in enumerate(self.nvlinks):
            if u == v or max(u, v) >= len(found) or frozenset((u, v)) in linked:
                raise ValueError(
                    f"nvlinks[{i}]: between {u} and {v}, expected two of the {len(found)} GPUs "
                    "that no other entry has"
                )
            linked.add(frozenset((u, v)))
        return self


def fastest(board: Board, free: Sequence[int], number: int) -> tuple[int, ...]:
    """Return the first of those sets of free GPUs whose ring is fastest."""
    sets = itertools.combinations(free, number)
    return max(sets, key=lambda x: board.ring_gbytes_s(x) if len(x) > 1 else 0)


def seatings(
    board: Board, needs: Sequence[int], ring_gbytes: Sequence[Fraction]
) -> list[tuple[Seating, tuple[Fraction, ...]]]:
    """Return all ways to give jobs disjoint sets of GPUs, and the seconds that their rings take.

    Parameters
    ----------
    board : Board
    needs : sequence of int
        GPUs of each job.
    ring_gbytes : sequence of Fraction
        What a ring of each job sends.
    """
    return [
        (
            seats,
            tuple(
                sent / board.ring_gbytes_s(gpus) if len(gpus) > 1 else Fraction(0)
                for sent, gpus in zip(ring_gbytes, seats, strict=True)
            ),
        )
        for seats in _disjoint(list(needs), frozenset(range(board.gpus)))
    ]


def undominated(
    ways: Iterable[tuple[Seating, tuple[Fraction, ...]]],
) -> list[tuple[Seating, tuple[Fraction, ...]]]:
    """Return the ways that no other is as good as for every job, one of each."""
    kept: list[tuple[Seating, tuple[Fraction, ...]]] = []
    for seats, seconds in sorted(ways, key=lambda way: (sum(way[1]), way)):
        if not any(all(a <= b for a, b in zip(k, seconds, strict=True)) for _, k in kept):
            kept.append((seats, seconds))
    return kept


def _disjoint(needs: list[int], free: frozenset[int]) -> Iterator[Seating]:
    if not needs:
        yield ()
        return
    for gpus in itertools.combinations(sorted(free), needs[0]):
        for rest in _disjoint(needs[1:], free.difference(gpus)):
            yield (gpus, *rest)


#: Links of the hybrid cube mesh of eight GPUs, of 25 GBytes per second each (recalled).
#: By definition.
_CUBE_MESH = (
    (0, 1, 1), (0, 2, 1), (0, 3, 2), (0, 4, 2), (1, 2, 2), (1, 3, 1), (1, 5, 2), (2, 3, 2),
    (2, 6, 1), (3, 7, 1), (4, 5, 1), (4, 6, 1), (4, 7, 2), (5, 6, 2), (5, 7, 1), (6, 7, 2),
)  # fmt: skip


def board_of(name: BoardName) -> Board:
    """Return two sockets of two GPUs, without or with an NVLink in each, or the cube mesh."""
    if name == "cube_mesh":
        return Board(
            sockets=(((0, 1), (2, 3)), ((4, 5), (6, 7))),
            switch_gbytes_s=Fraction(16),
            socket_gbytes_s=Fraction(12),
            between_gbytes_s=Fraction(9),
            nvlinks=tuple((u, v, Fraction(25 * links)) for u, v, links in _CUBE_MESH),
        )
    pairs = ((0, 1, Fraction(25)), (2, 3, Fraction(25)))
    return Board(
        sockets=(((0, 1),), ((2, 3),)),
        switch_gbytes_s=Fraction(12),
        socket_gbytes_s=Fraction(12),
        between_gbytes_s=Fraction(6),
        nvlinks=pairs if name == "nvlink_pairs" else (),
    )
