r"""The inside of servers and the network between them: what a gang's gradients pay (reconstructed).

A job with N GPUs sends :math:`V_j = 2\frac{N-1}{N}h_j` GBytes an iteration round a ring over all of
them, :math:`h_j` being its gradients. A ring is as fast as its slowest hop. In a server it takes
the cyclic order whose slowest hop is fastest, where a hop is as fast as the NVLink between two
GPUs or, without one, as their PCIe switch, their socket, or the link between sockets. Servers at
level L of the network are :math:`\mathrm{hops}_L` hops of :math:`h` seconds from each other, and
share its links by the oversubscription :math:`o_L`:

.. math::
    \beta_j(L) = \frac{V_j o_L}{\mathrm{NIC}} + 2 (N - 1)\, \mathrm{hops}_L\, h.

Links that several jobs share are no slower for it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gadgetopt.system.data import Data, NonNegativeInt, PositiveInt

from .cluster import NonNegativeRational, PositiveRational

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
