"""Policies: what gives each server and each agent its logit, and where it is read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.numbers.arrays import Floats
from gadgetopt.system.training import Policy, read_policy

from ..orders import ORDERS, Order
from . import network
from .fabric import Fabric
from .sight import SERVER_FEATURES, Sight

#: Names of the trainers by what their policies are.
NETWORKS, LINEAR = ("rollouts", "actor_critic", "clone"), ("linear",)
#: The policy that is used if none is given, and how it was made (see the page).
SHIPPED = Path(__file__).parent / "policy.npz"


class Scorer(Protocol):
    """Scores the servers, and the agents to whom a task may be forwarded."""

    def scores(self, fabric: Fabric, sight: Sight) -> tuple[Floats, Floats]:
        """Return logits, shapes (servers,) and (agents,)."""


@dataclass(frozen=True)
class Network:
    """The graph network with weights by name."""

    weights: Mapping[str, Floats]

    def scores(self, fabric: Fabric, sight: Sight) -> tuple[Floats, Floats]:
        """Return the network's logits."""
        found = network.logits(self.weights, fabric, sight.nodes, sight.servers, sight.job)
        return found[0], found[1]


@dataclass(frozen=True)
class Linear:
    """A linear score of what is seen of a server, of its mean over an agent's servers with room.

    Attributes
    ----------
    weights : array, shape (SERVER_FEATURES + 1,)
        The last is that of forwarding.
    """

    weights: Floats

    def scores(self, fabric: Fabric, sight: Sight) -> tuple[Floats, Floats]:
        """Return the linear scores."""
        return (
            sight.servers @ self.weights[:-1],
            forwarded(fabric, sight) @ self.weights[:-1] + self.weights[-1],
        )


def forwarded(fabric: Fabric, sight: Sight) -> Floats:
    """Return the mean of what is seen of each agent's servers with room, shape (agents, ...)."""
    room = fabric.member * sight.fit
    shares = room / np.maximum(1e-12, room.sum(1, keepdims=True))
    mean: Floats = shares @ sight.servers
    return mean


@dataclass(frozen=True)
class Team:
    """How a policy is used: schedulers among whom the servers are split, and order of the jobs."""

    agents: int
    order: Order


def read_scorer(path: str, system: str) -> tuple[Scorer, Team]:
    """Return the policy of a file, of the shipped one if no path is given, and its team.

    Raises
    ------
    InputError
        One line, if the file holds anything else.
    """
    policy = read_policy(path or SHIPPED, system, (*NETWORKS, *LINEAR))
    agents, order = (policy.about.parameters.get(name) for name in ("agents", "order"))
    if not isinstance(agents, int) or agents < 1:
        raise InputError(f"{policy.place}: agents: {agents!r}, expected a positive integer")
    if order not in ORDERS:
        raise InputError(f"{policy.place}: order: {order!r}, expected one of {', '.join(ORDERS)}")
    return scorer_of(policy), Team(agents, order)


def scorer_of(policy: Policy) -> Scorer:
    """Return what scores by the arrays of a policy."""
    if policy.about.trainer in LINEAR:
        return Linear(policy.array("weights", SERVER_FEATURES + 1))
    return Network({name: policy.array(name, *shape) for name, shape in network.SHAPES.items()})
