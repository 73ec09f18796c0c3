"""Hedge on the matrix game: tables against sequences, by multiplicative weights."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...subproblems.offline import largest
from ...subproblems.prices import of_table
from ...subproblems.replay import replay
from ..instance import (
    AdversarialOnlinePolicyCertificate,
    AdversarialOnlinePolicyInstance,
    AdversarialOnlinePolicySolution,
    WeightedSequence,
)
from ..subproblems.sizes import check_lottery_size
from ..subproblems.trees import monotone_tree

#: Entries of a matrix that is still computed.
MOST_ENTRIES = 200_000
#: Denominator of chances; smaller ones are dropped.
FINE = 1000


@method(kind="heuristic", reference="Freund and Schapire 1999")
def hedge(
    instance: AdversarialOnlinePolicyInstance,
    limits: Limits,
    *,
    iterations: int = 4000,
) -> MethodOutcome:
    r"""Multiplicative weights of both players on the matrix game, their means.

    Return the mean lottery over non-decreasing tables of two players who both play Hedge.

    The payoff is ALG/OPT, or ALG - OPT, on non-decreasing sequences; weights are multiplied by
    :math:`e^{\pm \eta\,\text{payoff}}`, :math:`\eta = \sqrt{8 \ln n / T}`. The adversary's mean is
    the certificate.

    Parameters
    ----------
    instance : AdversarialOnlinePolicyInstance
    limits : Limits
        `time_s` stops between two iterations.
    iterations : int, default 4000
        T.

    Raises
    ------
    ModelRefused
        If there are too many tables and sequences, predictions, or the lottery found has too many
        states to be judged.
    """
    if iterations < 1:
        raise ModelRefused(f"iterations: {iterations}, expected at least 1")
    if instance.predictions:
        raise ModelRefused("predictions: Hedge knows none")
    clock = Clock(limits)
    J, k = len(instance.levels), instance.capacity_units
    if math.comb(J + k - 1, k) > MOST_ENTRIES:
        raise ModelRefused("capacity_units: too many non-decreasing tables")
    tables = list(itertools.combinations_with_replacement(range(J), k))
    histories = monotone_tree(instance, MOST_ENTRIES // len(tables)).histories
    payoff = _payoff(instance, tables, histories)
    spread = float(payoff.max() - payoff.min()) or 1.0
    tables_mean, histories_mean = np.zeros(len(tables)), np.zeros(len(histories))
    gain, loss = np.zeros(len(tables)), np.zeros(len(histories))
    eta = [math.sqrt(8 * math.log(max(2, n)) / iterations) / spread for n in payoff.shape]
    done = 0
    while done < iterations and not (done and clock.expired):
        p, q = _weights(eta[0] * gain), _weights(-eta[1] * loss)
        gain += payoff @ q
        loss += p @ payoff
        tables_mean += p
        histories_mean += q
        done += 1
    lottery = tuple(
        of_table([instance.levels[j] for j in tables[i]], chance)
        for i, chance in _chances(tables_mean / done).items()
    )
    check_lottery_size(instance, lottery)
    return MethodOutcome(
        solution=AdversarialOnlinePolicySolution(lottery=lottery),
        certificate=_certificate(instance, histories, histories_mean / done),
        limit_hit=None if done == iterations else "time_s",
        notes={"iterations": done},
    )


def _payoff(
    instance: AdversarialOnlinePolicyInstance,
    tables: list[tuple[int, ...]],
    histories: list[tuple[int, ...]],
) -> Floats:
    """Return ALG/OPT or ALG - OPT, shape (tables, histories)."""
    ratio = instance.payoff == "ratio"
    payoff = np.empty((len(tables), len(histories)))
    for at, history in enumerate(histories):
        values, demands = instance.values(history), [(1,)] * len(history)
        optimum = float(largest(values, instance.capacity_units))
        for i, table in enumerate(tables):
            prices = [[instance.levels[j] for j in table]]
            earned = float(replay(prices, values, demands).welfare)
            payoff[i, at] = earned / optimum if ratio else earned - optimum
    return payoff


def _weights(exponents: Floats) -> Floats:
    powers = np.exp(exponents - exponents.max())
    return np.asarray(powers / powers.sum())


def _chances(mean: Floats) -> dict[int, Fraction]:
    """Return exact chances that sum to 1, without those that are next to nothing."""
    exact = {i: Fraction(round(float(x) * FINE), FINE) for i, x in enumerate(mean)}
    exact = {i: x for i, x in exact.items() if x > 0}
    total = sum(exact.values(), Fraction(0))
    return {i: x / total for i, x in exact.items()}


def _certificate(
    instance: AdversarialOnlinePolicyInstance, histories: list[tuple[int, ...]], mean: Floats
) -> AdversarialOnlinePolicyCertificate:
    """Return the adversary's mean; for the ratio, its chances over OPT are the weights."""
    weighted = []
    for i, chance in _chances(mean).items():
        optimum = largest(instance.values(histories[i]), instance.capacity_units)
        weight = chance / optimum if instance.payoff == "ratio" else chance
        weighted.append(WeightedSequence(levels=histories[i], weight=weight))
    return AdversarialOnlinePolicyCertificate(sequences=tuple(weighted))
