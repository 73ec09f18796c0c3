r"""Prices of nodes where the groups of training nodes can be listed, by smoothed descent.

What the prices of `certificate/group_prices.py` prove is a convex function of them, which is to be
small. Its maximum over the groups is smoothed, :math:`\max_G w_G` to
:math:`\tau \log \sum_G e^{w_G / \tau}`, and with lower and lower :math:`\tau` L-BFGS goes on from
where it was. The least is the linear program in which a part is a group with the nodes that it
keeps, and parts may be fractions.
"""

from __future__ import annotations

import contextlib

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import BglPartitionInstance
from ..certificate.check import BglPartitionCertificate
from ..certificate.group_prices import GroupPrices, GroupWeights

#: Temperatures of the smoothing, of the mean weight of a training node, and steps at each.
#: Tuned: `benchmarks/constants.py`.
TEMPERATURES = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0005)
STEPS = 200
#: Cells of the table of groups and other nodes that is kept.
MOST_KEPT = MOST_CELLS


@method(kind="relaxation", reference="this project", formulation="groups")
def group_prices(instance: BglPartitionInstance, limits: Limits) -> MethodOutcome:
    """The linear program over groups of training nodes, where they can be listed.

    Return nearly the bound of the linear program over all groups that fit into a part.

    Parameters
    ----------
    instance : BglPartitionInstance
    limits : Limits
        `time_s` ends it with the best prices so far.

    Raises
    ------
    ModelRefused
        If a pair of nodes with weight has no training node, or there are too many groups.
    """
    clock = Clock(limits)
    proof = group_proof(instance, clock)
    return MethodOutcome(
        certificate=BglPartitionCertificate(proof=proof),
        limit_hit="time_s" if clock.expired else None,
    )


def group_proof(instance: BglPartitionInstance, clock: Clock) -> GroupPrices:
    """Return the best prices found in time.

    Raises
    ------
    ModelRefused
        If a pair of nodes with weight has no training node, or there are too many groups.
    """
    try:
        weights = GroupWeights(instance)
    except ValueError as error:
        raise ModelRefused(str(error)) from None
    function = _Smoothed(weights, instance.used_parts, clock)
    prices = function.best * function.unit
    others = len(weights.of_others)
    for temperature in TEMPERATURES:
        if clock.expired:
            break
        prices = function.descend(temperature) * function.unit
    return GroupPrices(
        others=tuple(max(0, round(x)) for x in prices[:others].tolist()),
        trained=tuple(round(x) for x in prices[others:].tolist()),
    )


class _TimeUpError(Exception):
    """The descent has no time left."""


class _Smoothed:
    """What prices prove of what is kept, in units of the mean weight of a training node.

    Attributes
    ----------
    best : array, shape (others + trained,)
        The prices that prove most so far.
    """

    def __init__(self, weights: GroupWeights, parts: int, clock: Clock):
        self._parts, self._clock = parts, clock
        self._others, trained = len(weights.of_others), len(weights.trained)
        groups = [*weights.groups()]
        if sum(map(len, groups)) * max(1, self._others) > MOST_KEPT:
            raise ModelRefused("group_prices: too many groups of training nodes")
        total = float(weights.of_others.sum()) + float(weights.among.sum()) / 2
        self.unit: float = max(1.0, total / max(1, trained))
        none = np.zeros((1, self._others))
        self._kept: Floats = np.vstack([none, *(weights.kept(g) for g in groups)]) / self.unit
        inside = [np.zeros(1), *(weights.inside(g) for g in groups)]
        self._inside: Floats = np.concatenate(inside) / self.unit
        self._member: Floats = np.zeros((len(self._inside), trained))
        #: Other nodes for which there is room beside a group.
        self._room: Ints = np.full(len(self._inside), weights.node_cap)
        first = 1
        for some in groups:
            self._room[first : first + len(some)] -= some.shape[1]
            self._member[np.arange(first, first + len(some))[:, None], some] = 1.0
            first += len(some)
        self.best: Floats = np.zeros(self._others + trained)
        self._least = np.inf

    def descend(self, temperature: float) -> Floats:
        """Go on from the best prices at a temperature; return the best then."""
        bounds = [(0.0, None)] * self._others + [(None, None)] * self._member.shape[1]
        with contextlib.suppress(_TimeUpError):
            minimize(
                lambda x: self._value(x, temperature),
                self.best,
                jac=True,
                method="L-BFGS-B",
                bounds=bounds,
                options={"maxiter": STEPS, "maxcor": 30},
            )
        return self.best

    def _value(self, prices: Floats, temperature: float) -> tuple[float, Floats]:
        """Return the smoothed function and its gradient; remember the best prices."""
        if self._clock.expired:
            raise _TimeUpError
        others, trained = prices[: self._others], prices[self._others :]
        gain = self._kept - others
        takes = gain > 0
        if self._room.min() < self._others:
            # The least gain that there is room for.
            ordered = np.sort(gain, axis=1)
            at = np.clip(self._others - self._room, 0, self._others - 1)
            takes &= gain >= np.take_along_axis(ordered, at[:, None], axis=1)
            takes &= self._room[:, None] > 0
        worth = np.where(takes, gain, 0.0).sum(axis=1) + self._inside - self._member @ trained
        exact = float(prices.sum()) + self._parts * float(worth.max())
        if exact < self._least:
            self._least, self.best = exact, prices.copy()
        smooth = float(logsumexp(worth / temperature)) * temperature
        share = np.exp(worth / temperature - smooth / temperature)
        down = np.concatenate([share @ takes, share @ self._member])
        return float(prices.sum()) + self._parts * smooth, 1.0 - self._parts * down
