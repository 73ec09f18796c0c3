"""Random arrivals on one cluster, and the same as a model of interference sees it (reconstructed).

A cluster has one table of interference, the truth. A training may know it (`table`), or samples of
it with noise, to which a ridge regression (`ridge`) or a network (`network`) is fitted, or nothing:
that nobody disturbs anybody (`none`). What it plays, and what it is rewarded for, is then the world
by that model.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from gadgetopt.errors import InputError

from ....subproblems.cluster import Measured
from ....subproblems.interference_model import Perceptron, additive, drawn, ridge
from ....subproblems.random_jobs import racks_of, table
from ...instance import QueueingInstance
from ..generate.presets import arriving

Knows = Literal["table", "ridge", "network", "none"]

#: Streams of random numbers of a cluster: its table, its samples. By definition.
_TABLE, _SAMPLES = 5, 6
#: Types of jobs, the largest slowdown of one by another, and decimals of fitted ones.
#: By definition.
TYPES, MOST_SLOWDOWN, DECIMALS = 4, 1.0, 4
#: Slots of a world by those in which its jobs arrive and end at half speed: rules that wait for
#: long end in time, too. By definition.
SLACK = 3


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
    """

    cluster: int
    jobs: int
    servers: int
    gpus: int
    slots: int
    slots_between: float

    def draw(self, rng: np.random.Generator) -> QueueingInstance:
        """Return random jobs on the cluster, with its true table; they stay where they start."""
        servers = racks_of(1, self.servers, self.gpus, 4 * self.gpus)
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
                update = {"interference": self.table(), "num_slots": SLACK * self.slots}
                return found.model_copy(update=update)

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
            return {"interference": ((Fraction(0),) * TYPES,) * TYPES}
        rng = np.random.default_rng([self.cluster, _SAMPLES])
        truth = np.array([[float(a) for a in row] for row in self.table()])
        seen = drawn(rng, additive(truth), TYPES, samples, max(1, self.gpus - 1), noise)
        if knows == "ridge":
            return {"interference": tuple(tuple(map(_decimal, row)) for row in ridge(seen))}
        fitted = Perceptron(seen)
        pairs = [(victim, around) for victim in range(TYPES) for around in self.neighbourhoods()]
        victims, counts = (np.array(x, dtype=np.int64) for x in zip(*pairs, strict=True))
        return {
            "measured": tuple(
                Measured(victim=victim, neighbours=around, slowdown=_decimal(slowdown))
                for (victim, around), slowdown in zip(
                    pairs, fitted(victims, counts).tolist(), strict=True
                )
            )
        }

    def neighbourhoods(self) -> list[tuple[int, ...]]:
        """Return how many neighbours of each type there can be on a server, but none at all."""
        counts = itertools.product(range(self.gpus), repeat=TYPES)
        return [around for around in counts if 0 < sum(around) < self.gpus]


def _decimal(value: float) -> Fraction:
    return Fraction(round(float(value) * 10**DECIMALS), 10**DECIMALS)
