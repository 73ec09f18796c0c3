"""The seller's network of a trained pair, its chances rounded: its worst case is exact."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.pieces.learning.networks import HIDDEN
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome
from gadgetopt.system.training import Policy, read_policy

from ..evaluate import worst_case
from ..instance import AdversarialBundlesInstance
from ..subproblems.networks import Sight, rounded_seller

#: What `gadgetopt train adversarial_bundles --preset NAME --seed 0` writes, by the preset's name.
SHIPPED = {
    "quickstart": Path(__file__).parent / "policy.npz",
    "units": Path(__file__).parent / "units.npz",
    "given_back": Path(__file__).parent / "given_back.npz",
}

#: Part by which a seller may be worse than when it was trained: another machine's exponentials may
#: round a chance the other way. By definition.
ELSEWHERE = 1e-3


@method(kind="heuristic", reference="Du, Huang and Wu 2021, reconstructed", files=("policy",))
def learned(instance: AdversarialBundlesInstance, *, policy: str = "") -> MethodOutcome:
    """The seller's network, its chances rounded; its worst case is exact.

    Return the seller of a file that `gadgetopt train adversarial_bundles` wrote; without one, of
    the file for this game among those that come with the system (`SHIPPED`). Its worst ratio is
    computed again and held against the one that the file names.

    Parameters
    ----------
    instance : AdversarialBundlesInstance
        The game that the seller was trained for.
    policy : str
        The file; empty for one that comes with the system.

    Raises
    ------
    InputError
        If the file is none of a policy, or its seller is worse than the file says.
    ModelRefused
        If the seller was trained for another game.
    """
    if policy:
        read = _read(policy)
        other = _other(read, instance)
        if other:
            raise ModelRefused(f"policy: trained for another game, whose {other} differ")
    else:
        policy, read = _shipped(instance)
    sight = Sight(instance)
    seller = rounded_seller(sight, network(read, sight))
    promised = read.array("certified_ratio", 2)
    if (promised != np.floor(promised)).any() or promised[1] < 1:
        raise InputError(f"{policy}: certified_ratio: expected a fraction of whole numbers")
    worst = worst_case(instance, seller)
    ratio = Fraction(int(promised[0]), int(promised[1]))
    if worst.offline_welfare > ratio * worst.welfare * Fraction(1 + ELSEWHERE):
        raise InputError(
            f"{policy}: certified_ratio: {float(ratio):.6g}, but on {len(worst.sequence)} requests "
            f"the seller has {float(worst.welfare):.6g} of {float(worst.offline_welfare):.6g}"
        )
    return MethodOutcome(solution=seller)


def network(read: Policy, sight: Sight) -> dict[str, Floats]:
    """Return the layers of a policy's network, if they take what is seen of a game."""
    sizes = [sight.seller_inputs, HIDDEN, HIDDEN, sight.num_prices + 1]
    weights: dict[str, Floats] = {}
    for layer in range(1, len(sizes)):
        n, m = sizes[layer - 1], sizes[layer]
        weights[f"w{layer}"] = read.array(f"w{layer}", n, m)
        weights[f"b{layer}"] = read.array(f"b{layer}", m)
    return weights


def _read(policy: str) -> Policy:
    return read_policy(policy, "adversarial_bundles", ("networks",))


def _other(read: Policy, instance: AdversarialBundlesInstance) -> str:
    """Return in what the game of a policy is another one than an instance; empty if in nothing."""
    for name, wanted in game_arrays(instance).items():
        known = read.array(name, *(None for _ in wanted.shape))
        if known.shape != wanted.shape or (known != wanted).any():
            return name
    return ""


def _shipped(instance: AdversarialBundlesInstance) -> tuple[str, Policy]:
    """Return the file that comes with the system for a game, and what is in it."""
    for path in SHIPPED.values():
        read = _read(str(path))
        if not _other(read, instance):
            return str(path), read
    raise ModelRefused(
        f"policy: none given, and those that come with the system ({', '.join(SHIPPED)}) were "
        "trained for other games"
    )


def game_arrays(instance: AdversarialBundlesInstance) -> dict[str, Floats]:
    """Return a game as arrays of a policy's file."""
    types = [
        [kind.value.numerator, kind.value.denominator, *kind.demand, kind.duration or 0]
        for kind in instance.types
    ]
    return {
        "capacity": np.array(instance.capacity, dtype=float),
        "types": np.array(types, dtype=float),
        "horizon": np.array(instance.horizon, dtype=float),
    }
