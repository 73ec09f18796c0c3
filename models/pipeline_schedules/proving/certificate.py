"""Certificates of lower bounds on makespan and period: the name of a formula, and where.

The formulas and their proofs are in `bounding`, `heads_tails` and `contradiction`; the check
computes the one that is named, in whole ticks, and believes no number of the certificate. The ticks
of a contradiction are a claim that it proves again.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from gadgetopt.errors import ModelRefused
from gadgetopt.system.data import Certificate, Data, NonNegativeInt, PositiveInt

from ..bounding import chain_bound, load_bound, rounds_bound, warm_up_bound, windows_bound
from ..contradiction import is_refuted
from ..heads_tails import machine_bound
from ..instance import PipelineSchedulesInstance
from ..shop import Shop, shop_of


class OfDevice(Data):
    """A formula of a device: (B1) load, (B3) warm_up or (B4) windows."""

    kind: Literal["load", "warm_up", "windows"]
    device: NonNegativeInt


class Chain(Data):
    """(B2): all of a stage, and then the way back to an earlier stage of its route."""

    kind: Literal["chain"] = "chain"
    stage: NonNegativeInt
    to_stage: NonNegativeInt


class Rounds(Data):
    """(B5): rounds through memory of a stage."""

    kind: Literal["rounds"] = "rounds"
    stage: NonNegativeInt
    rounds: NonNegativeInt


class Machine(Data):
    """(B6): heads and tails of a device; a period counts from the begin of `begin` to its end."""

    kind: Literal["machine"] = "machine"
    device: NonNegativeInt
    begin: NonNegativeInt


class Contradiction(Data):
    """(B7): a length of less than `ticks` is refuted; a period counts from and to `begin`."""

    kind: Literal["contradiction"] = "contradiction"
    ticks: PositiveInt
    begin: NonNegativeInt


Proof = OfDevice | Chain | Rounds | Machine | Contradiction

_OF_DEVICE = {"load": load_bound, "warm_up": warm_up_bound, "windows": windows_bound}


class PipelineSchedulesCertificate(Certificate):
    """A proof of a lower bound on the makespan or the period."""

    proof: Annotated[Proof, Field(discriminator="kind")]


def check_bound(
    instance: PipelineSchedulesInstance, certificate: PipelineSchedulesCertificate
) -> Fraction | None:
    """Return the lower bound in seconds that a certificate proves; None if it proves none.

    Raises
    ------
    ValueError
        If it names a stage or device that the instance does not have.
    """
    try:
        shop = shop_of(instance)
    except ModelRefused:  # the formulas do not know recomputation, copies and pairs
        return None
    ticks = ticks_of(shop, certificate.proof)
    return None if ticks is None else Fraction(ticks, instance.ticks_per_s)


def ticks_of(shop: Shop, proof: Proof) -> int | None:
    """Return the bound of a formula in ticks; None if it says nothing there."""
    if isinstance(proof, OfDevice):
        _check(proof.device, len(shop.on_device), "device")
        return _OF_DEVICE[proof.kind](shop, proof.device)
    if isinstance(proof, Machine):
        _check(proof.device, len(shop.on_device), "device")
        _check(proof.begin, len(shop.on_device), "begin")
        return machine_bound(shop, proof.device, proof.begin)
    if isinstance(proof, Contradiction):
        _check(proof.begin, len(shop.on_device), "begin")
        return proof.ticks if is_refuted(shop, proof.ticks, proof.begin) else None
    _check(proof.stage, len(shop.device), "stage")
    if isinstance(proof, Rounds):
        return rounds_bound(shop, proof.stage, proof.rounds)
    if proof.to_stage > proof.stage or proof.to_stage not in shop.route_of[proof.stage]:
        raise ValueError(
            f"to_stage: {proof.to_stage}, expected a stage of the route up to {proof.stage}"
        )
    return chain_bound(shop, proof.stage, proof.to_stage)


def _check(number: int, count: int, name: str) -> None:
    if number >= count:
        raise ValueError(f"{name}: {number}, there are {count}")
