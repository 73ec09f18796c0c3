r"""Certificates of lower bounds on the objective, and their check in integers and rationals.

* `Stairs`: under the error bound or the time to accuracy no decision is better than a number. The
  number is all there is to the proof: the check climbs the stairs of `staircase`.
* `Multipliers`: under the momentum cap, the Lagrangian bound of multipliers for the momentum cap
  and the commit cap, the least over all windows.
* `Labels`: under the momentum cap no decision loses fewer steps than a number. The check goes
  through all decisions by itself (`momentum_labels`), at the multipliers of the certificate.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from gadgetopt.system.data import Certificate, Data, Rational

from ...instance import (
    AdspRatesInstance,
    MomentumCap,
)
from .momentum_labels import lagrangian_bound, none_cheaper, whole_window, window_starts
from .staircase import is_proved


class Stairs(Data):
    """No decision has a smaller objective than `bound`."""

    kind: Literal["stairs"] = "stairs"
    bound: Rational


Multiplier = Annotated[float, Field(ge=0, le=1e18)]


class Multipliers(Data):
    """Steps lost for one unit of momentum terms, and for one commit."""

    kind: Literal["multipliers"] = "multipliers"
    momentum: Multiplier
    cap: Multiplier = 0.0


class Labels(Data):
    """No decision loses fewer steps than `bound`.

    Attributes
    ----------
    windows : tuple of tuple
        Multipliers of the momentum cap and of the commit cap for each number of fewest commits:
        any prove the bound if few labels are left. Without them (1, 0) is taken.
    """

    kind: Literal["labels"] = "labels"
    bound: Rational
    windows: tuple[tuple[Multiplier, Multiplier], ...] = ()


class AdspRatesCertificate(Certificate):
    """A proof of a lower bound."""

    proof: Annotated[Stairs | Multipliers | Labels, Field(discriminator="kind")]


def check_bound(
    instance: AdspRatesInstance, certificate: AdspRatesCertificate
) -> Fraction | int | None:
    """Return the lower bound that a certificate proves; None if it proves none.

    Raises
    ------
    ValueError
        If it is about another model, no decision is feasible, or the check would take too long.
    """
    proof, momentum = certificate.proof, isinstance(instance.model, MomentumCap)
    if isinstance(proof, Stairs) == momentum:
        raise ValueError(f"proof.kind: '{proof.kind}' proves nothing about {instance.model.kind}")
    if not instance.last_window_start:
        raise ValueError("workers: one cannot commit, or the cap is below one commit a worker")
    if isinstance(proof, Multipliers):
        return multiplier_bound(instance, proof)
    if isinstance(proof, Stairs):
        return proof.bound if is_proved(instance, proof.bound) else None
    return proof.bound if _no_labels(instance, proof) else None


def multiplier_bound(instance: AdspRatesInstance, proof: Multipliers) -> Fraction:
    """Return the least Lagrangian bound of all windows; fewest commits lose steps anyway."""
    at = proof.momentum, proof.cap
    bounds = (lagrangian_bound(whole_window(instance, c, *at)) for c in window_starts(instance))
    return max(Fraction(0), min(bounds))


def _no_labels(instance: AdspRatesInstance, proof: Labels) -> bool:
    """Return True if no window has a decision that loses fewer steps."""
    starts = window_starts(instance)
    given = proof.windows or ((1.0, 0.0),) * len(starts)
    if len(given) != len(starts):
        raise ValueError(f"proof.windows: {len(given)}, expected one for each of {len(starts)}")
    return all(
        none_cheaper(whole_window(instance, c, *at), proof.bound)
        for c, at in zip(starts, given, strict=True)
    )
