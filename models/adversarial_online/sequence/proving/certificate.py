r"""Certificates that no sequence is worse: a potential of what is left, checked in integers.

`subproblems.adversary` says what a potential is. At a ratio of p/q it starts at 0, so
:math:`q\,OPT \le p\,ALG` for every sequence; for a regret, p = q = 1 and it starts at the regret.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.system.data import Certificate, NonNegativeInt, Rational

from ...subproblems.adversary import (
    Automaton,
    Potential,
    Worst,
    automaton,
    is_potential,
)
from ..instance import AdversarialOnlineSequenceInstance

#: Most integers of a potential that a certificate holds.
MOST_WRITTEN = 50_000


class AdversarialOnlineSequenceCertificate(Certificate):
    """An upper bound on the ratio or the regret, with a potential.

    Attributes
    ----------
    bound : Rational
    potential : tuple of int
        Tables of what at most 1, 2, ..., N further requests are worth, or a single one for any
        number, row by row of the prices' states. Without it the check computes the tables itself:
        large ones are not worth writing down.
    """

    bound: Rational
    potential: tuple[NonNegativeInt, ...] = ()


def automaton_of(instance: AdversarialOnlineSequenceInstance) -> Automaton:
    """Return the automaton of an instance's prices and types.

    Raises
    ------
    ModelRefused
        If it has too many states.
    """
    return automaton(
        instance.capacity,
        [kind.value for kind in instance.types],
        [kind.demand for kind in instance.types],
        instance.policy,
    )


def fraction_of(instance: AdversarialOnlineSequenceInstance, bound: Fraction) -> tuple[int, int]:
    """Return p and q of the objective q OPT - p ALG that decides whether a bound holds."""
    return (1, 1) if instance.payoff == "regret" else bound.as_integer_ratio()


def certificate_of(
    instance: AdversarialOnlineSequenceInstance, bound: Fraction, tables: Worst
) -> AdversarialOnlineSequenceCertificate:
    """Return the certificate of a bound whose tables were computed."""
    found = tables.tables[-1:] if tables.stationary else tables.tables[1:]
    entries = sum(V.size for V in found)
    written = [int(x) for V in found for x in V.ravel()] if entries <= MOST_WRITTEN else []
    return AdversarialOnlineSequenceCertificate(bound=bound, potential=tuple(written))


def check_bound(
    instance: AdversarialOnlineSequenceInstance, certificate: AdversarialOnlineSequenceCertificate
) -> Fraction | None:
    """Return the bound on the ratio or regret that a certificate proves; None if it proves none.

    Raises
    ------
    ValueError
        If the potential has the wrong number of entries, or the ratio is not positive.
    ModelRefused
        If the prices have too many states.
    """
    if instance.payoff == "ratio" and certificate.bound <= 0:
        raise ValueError(f"bound: {certificate.bound}, expected a positive ratio")
    a = automaton_of(instance)
    p, q = fraction_of(instance, certificate.bound)
    start = _start(instance, certificate, a, p, q)
    allowed = certificate.bound * a.scale if instance.payoff == "regret" else 0
    return certificate.bound if start is not None and start <= allowed else None


def _start(
    instance: AdversarialOnlineSequenceInstance,
    certificate: AdversarialOnlineSequenceCertificate,
    a: Automaton,
    p: int,
    q: int,
) -> int | None:
    """Return what the whole of a sequence is worth at most; None if the potential is none."""
    if not certificate.potential:
        return Worst(a, p, q, instance.horizon).value
    S, M = a.states
    entries = len(certificate.potential)
    N = instance.horizon
    if entries not in (S * M, N * S * M):
        raise ValueError(
            f"potential: {entries} entries, expected {S * M} or {N} times as many, "
            f"of {S} x {M} states"
        )
    tables: list[Potential] = list(np.array(certificate.potential, dtype=object).reshape(-1, S, M))
    stationary = len(tables) == 1 and is_potential(a, p, q, tables, stationary=True)
    timed = len(tables) == N and is_potential(a, p, q, tables, stationary=False)
    return int(tables[-1][0, 0]) if stationary or timed else None
