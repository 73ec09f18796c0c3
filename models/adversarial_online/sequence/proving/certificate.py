r"""Certificates that no sequence is worse: a potential of what is left, checked in integers.

A potential bounds what is left of a sequence in every state of the prices and of an offline seller,
:math:`q\,OPT - p\,ALG`. At a ratio of p/q it starts at 0, so :math:`q\,OPT \le p\,ALG` for every
sequence; for a regret, p = q = 1 and it starts at the regret. Nothing of the search is run here.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.system.data import Certificate, NonNegativeInt, Rational

from ...subproblems.automaton import Automaton, automaton
from ..instance import AdversarialOnlineSequenceInstance

#: A table of what is left, shape (prices' states, offline states), of 64-bit or Python integers.
Table = npt.NDArray[Any]


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
        return _most_left(a, p, q, instance.horizon)
    S, M = a.states
    entries = len(certificate.potential)
    N = instance.horizon
    if entries not in (S * M, N * S * M):
        raise ValueError(
            f"potential: {entries} entries, expected {S * M} or {N} times as many, "
            f"of {S} x {M} states"
        )
    tables: list[Table] = list(np.array(certificate.potential, dtype=object).reshape(-1, S, M))
    stationary = len(tables) == 1 and _is_potential(a, p, q, tables, stationary=True)
    timed = len(tables) == N and _is_potential(a, p, q, tables, stationary=False)
    return int(tables[-1][0, 0]) if stationary or timed else None


def _most_left(a: Automaton, p: int, q: int, horizon: int) -> int:
    """Return the largest q OPT - p ALG of at most so many requests, by one table after the other.

    In 64 bits where no sum overflows, else in Python's integers.

    Raises
    ------
    ModelRefused
        If the tables are too large.
    """
    S, M = a.states
    if 2 * S * M > MOST_CELLS:
        raise ModelRefused(f"tables of {S} x {M} states are too large")
    largest = (q * max(a.worth) + p * max(map(max, a.earned)) + 1) * (horizon + 1)
    kind: Any = np.int64 if largest < 2**60 else object
    paid = p * np.array(a.earned, dtype=kind)
    left: Table = np.zeros((S, M), dtype=kind)
    for _ in range(horizon):
        longer = np.zeros_like(left)  # the sequence may end here
        for j, worth in enumerate(a.worth):
            refused = left[a.after[:, j]] - paid[:, j, None]
            fits = np.flatnonzero(a.taken[:, j] < M)
            taken = refused[:, a.taken[fits, j]] + q * worth
            np.maximum(longer, refused, out=longer)
            longer[:, fits] = np.maximum(longer[:, fits], taken)
        if (longer == left).all():  # so are all that follow
            break
        left = longer
    return int(left[0, 0])


def _is_potential(
    automaton: Automaton, p: int, q: int, tables: Sequence[Table], *, stationary: bool
) -> bool:
    r"""Return True if tables bound what is left from above: an exact check without optimisation.

    Tables :math:`V_1, \dots, V_N`, or a single one for any number of requests left, must be nowhere
    negative, and nowhere below what a request is worth plus the table of one fewer.
    """
    S, M = automaton.states
    before = tables[0] if stationary else np.zeros((S, M), dtype=object)
    for V in tables:
        if (V < 0).any():
            return False
        for j, worth in enumerate(automaton.worth):
            paid = np.array([-p * row[j] for row in automaton.earned], dtype=object)[:, None]
            left = before[automaton.after[:, j]]
            fits = automaton.taken[:, j] < M
            if (left + paid > V).any():
                return False
            if (V[:, fits] < left[:, automaton.taken[fits, j]] + paid + q * worth).any():
                return False
        before = V
    return True
