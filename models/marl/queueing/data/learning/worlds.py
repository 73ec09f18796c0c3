r"""Random arrivals on one cluster, and the same as a model of interference sees it (reconstructed).

A cluster has one table of interference, the truth. A training may know it (`table`), or samples of
it with noise, to which a ridge regression (`ridge`) or a network (`network`) is fitted, or nothing:
that nobody disturbs anybody (`none`). What it plays, and what it is rewarded for, is then the world
by that model. A true slowdown s is the sum of the table's entries, or :math:`s / (1 + s / 0.8)`
where it saturates.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.pieces.learning.interference_model import (
    Model,
    Perceptron,
    additive,
    drawn,
    ridge,
    saturating,
)
from gadgetopt.pieces.server_boards import BoardName, board_of

from ....subproblems.architecture import Network
from ....subproblems.cluster import Measured
from ....subproblems.random_jobs import racks_of, table
from ...instance import QueueingInstance
from ..generate.presets import arriving
from ..generate.topologies import with_architecture

Knows = Literal["table", "ridge", "network", "none"]
Law = Literal["sum", "saturates"]
Topology = Literal["rack", "racks", "fat_tree", "vl2", "bcube"]

#: Streams of random numbers of a cluster: its table, its samples. By definition.
_TABLE, _SAMPLES = 5, 6
#: Types of jobs, the largest slowdown of one by another, and decimals of fitted ones.
#: By definition.
TYPES, MOST_SLOWDOWN, DECIMALS = 4, 1.0, 4
#: Slots of a world by those in which its jobs arrive and end at half speed: rules that wait for
#: long end in time, too. By definition.
SLACK = 3
#: Where slowdowns that saturate end. By definition.
HALF = 0.8
#: Addresses of four servers, and hops by level: two pods of two racks, two racks, a square.
#: By definition.
NETWORKS: dict[Topology, tuple[Literal["tree", "cube"], tuple[tuple[int, ...], ...], Any]] = {
    "fat_tree": ("tree", ((0, 0), (0, 1), (1, 2), (1, 3)), (2, 4, 6)),
    "vl2": ("tree", ((0,), (0,), (1,), (1,)), (2, 6)),
    "bcube": ("cube", ((0, 0), (0, 1), (1, 0), (1, 1)), (2, 4)),
}
#: Servers of a topology; GBytes per second of a network card, 10 Gbit/s, and seconds of a hop: a
#: network that is felt. By definition.
SQUARE, NIC, HOP_S = 4, Fraction(5, 4), Fraction(1, 200)


@dataclass(frozen=True)
class World:
    """Where jobs arrive.

    Attributes
    ----------
    cluster : int
        Seed of its table of interference.
    jobs, servers, gpus, slots : int
    slots_between : float
        Between two arrivals, on average.
    law : "sum" or "saturates"
        What several neighbours do.
    topology : str
        One rack; or for four servers two `racks`, or one of `NETWORKS`.
    board : str
        Of every server; see the preset `boards`.

    Raises
    ------
    InputError
        If servers and topology, or GPUs and board, do not fit together.
    """

    cluster: int
    jobs: int
    servers: int
    gpus: int
    slots: int
    slots_between: float
    law: Law = "sum"
    topology: Topology = "rack"
    board: BoardName = "none"

    def __post_init__(self) -> None:
        for name, kinds in (("law", Law), ("topology", Topology), ("board", BoardName)):
            if getattr(self, name) not in get_args(kinds):
                expected = ", ".join(get_args(kinds))
                raise InputError(f"{name}: {getattr(self, name)!r}, expected one of {expected}")
        if self.topology != "rack" and self.servers != SQUARE:
            raise InputError(f"servers: {self.servers}, expected {SQUARE} with a topology")
        if self.board != "none" and self.gpus != board_of(self.board).gpus:
            raise InputError(
                f"gpus: {self.gpus}, expected {board_of(self.board).gpus} as the board has"
            )

    def draw(self, rng: np.random.Generator) -> QueueingInstance:
        """Return random jobs on the cluster, with its true table; they stay where they start."""
        racks = 2 if self.topology == "racks" else 1
        servers = racks_of(racks, self.servers // racks, self.gpus, 4 * self.gpus)
        while True:
            found = arriving(
                rng,
                servers,
                jobs=self.jobs,
                slots=self.slots,
                slots_between=self.slots_between,
                types=TYPES,
                tasks=(1, 1, 2),
                migration=False,
            )
            if found.jobs:
                update: dict[str, Any] = {
                    "interference": self.table(),
                    "num_slots": SLACK * self.slots,
                }
                if self.law == "saturates":
                    update["measured"] = self._measured(self.truth())
                found = found.model_copy(update=update)
                return found if self._plain else self._with_architecture(rng, found)

    @property
    def _plain(self) -> bool:
        return self.topology not in NETWORKS and self.board == "none"

    def _with_architecture(
        self, rng: np.random.Generator, plain: QueueingInstance
    ) -> QueueingInstance:
        if self.topology not in NETWORKS:
            return with_architecture(rng, plain, plain.servers, None, self.board)
        kind, addresses, hops = NETWORKS[self.topology]
        servers = tuple(
            server.model_copy(update={"address": address})
            for server, address in zip(plain.servers, addresses, strict=True)
        )
        even = (Fraction(1),) * len(hops)
        network = Network(
            kind=kind, nic_gbytes_s=NIC, hops=hops, oversubscription=even, hop_s=HOP_S
        )
        return with_architecture(rng, plain, servers, network, self.board)

    def truth(self) -> Model:
        """Return the true slowdowns."""
        entries = np.array([[float(a) for a in row] for row in self.table()])
        return additive(entries) if self.law == "sum" else saturating(entries, HALF)

    def table(self) -> tuple[tuple[Fraction, ...], ...]:
        """Return the true table."""
        return table(np.random.default_rng([self.cluster, _TABLE]), TYPES, most=MOST_SLOWDOWN)

    def known(self, knows: Knows, samples: int, noise: float) -> dict[str, Any]:
        """Return the fields of an instance that a model changes.

        Parameters
        ----------
        knows : str
        samples : int
            Measured neighbourhoods.
        noise : float
            Standard deviation of a measured slowdown.
        """
        if knows not in get_args(Knows):
            raise InputError(f"knows: {knows!r}, expected one of {', '.join(get_args(Knows))}")
        if knows == "table":
            return {}
        if knows == "none":
            return {"interference": ((Fraction(0),) * TYPES,) * TYPES, "measured": ()}
        rng = np.random.default_rng([self.cluster, _SAMPLES])
        seen = drawn(rng, self.truth(), TYPES, samples, max(1, self.gpus - 1), noise)
        if knows == "ridge":
            fitted_table = tuple(tuple(map(_decimal, row)) for row in ridge(seen))
            return {"interference": fitted_table, "measured": ()}
        fitted = Perceptron(seen)
        victims, neighbours = np.divmod(np.arange(TYPES * TYPES), TYPES)
        pairs = fitted(victims, np.eye(TYPES, dtype=np.int64)[neighbours]).reshape(TYPES, TYPES)
        # The table says what policies see of a job, so it is the network's, too.
        return {
            "interference": tuple(tuple(map(_decimal, row)) for row in pairs.tolist()),
            "measured": self._measured(fitted),
        }

    def _measured(self, model: Model) -> tuple[Measured, ...]:
        pairs = [(victim, around) for victim in range(TYPES) for around in self.neighbourhoods()]
        victims, counts = (np.array(x, dtype=np.int64) for x in zip(*pairs, strict=True))
        return tuple(
            Measured(victim=victim, neighbours=around, slowdown=_decimal(slowdown))
            for (victim, around), slowdown in zip(
                pairs, model(victims, counts).tolist(), strict=True
            )
        )

    def neighbourhoods(self) -> list[tuple[int, ...]]:
        """Return how many neighbours of each type there can be on a server, but none at all."""
        counts = itertools.product(range(self.gpus), repeat=TYPES)
        return [around for around in counts if 0 < sum(around) < self.gpus]


def _decimal(value: float) -> Fraction:
    return Fraction(round(float(value) * 10**DECIMALS), 10**DECIMALS)
