"""The seller's network of a trained pair, rounded to a table: its worst case is exact."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.pieces.learning.networks import HIDDEN
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome
from gadgetopt.system.training import Policy, read_policy

from ..instance import AdversarialOnlinePolicyInstance, AdversarialOnlinePolicySolution
from ..subproblems.chains import certificate_of_chain
from ..subproblems.networks import SELLER_INPUTS
from ..subproblems.rounding import rounded_table

#: What `gadgetopt train adversarial_online_policy --preset quickstart --seed 0` writes.
SHIPPED = Path(__file__).parent / "policy.npz"


@method(kind="heuristic", reference="Du, Huang and Wu 2021, reconstructed", files=("policy",))
def learned(
    instance: AdversarialOnlinePolicyInstance,
    *,
    policy: str = "",
) -> MethodOutcome:
    """The seller's network, rounded to a table; its worst case is exact.

    Return the policy of a file that `gadgetopt train adversarial_online_policy` wrote; without one,
    of the file that comes with the system, for two units and the levels 1, 2, 4.

    Parameters
    ----------
    instance : AdversarialOnlinePolicyInstance
        With the levels and units that the policy was trained for.
    policy : str
        The file; empty for the one that comes with the system.

    Raises
    ------
    InputError
        If the file is none of a policy.
    ModelRefused
        If the policy was trained for other levels or units.
    """
    policy = policy or str(SHIPPED)
    read = read_policy(policy, "adversarial_online_policy", ("networks",))
    levels = read.array("levels", None, 2)
    if (levels[:, 1] < 1).any() or (levels != np.floor(levels)).any():
        raise InputError(f"{policy}: levels: expected fractions of whole numbers")
    trained = [Fraction(int(p), int(q)) for p, q in levels]
    units = int(read.array("capacity_units"))
    if list(instance.levels) != trained or instance.capacity_units != units:
        raise ModelRefused(
            f"policy: trained for {units} units and the levels {', '.join(map(str, trained))}"
        )
    parts = int(read.array("parts_per_unit"))
    if parts < 1:
        raise InputError(f"{policy}: parts_per_unit: {parts}, expected at least 1")
    table = rounded_table(instance, _weights(read, len(trained)), parts)
    return MethodOutcome(
        solution=AdversarialOnlinePolicySolution(sale_table=table),
        certificate=certificate_of_chain(instance),
    )


def _weights(policy: Policy, J: int) -> dict[str, np.ndarray]:
    """Return the seller's layers."""
    sizes = [SELLER_INPUTS, HIDDEN, HIDDEN, J + 1]
    weights = {}
    for layer in range(1, len(sizes)):
        n, m = sizes[layer - 1], sizes[layer]
        weights[f"w{layer}"] = policy.array(f"w{layer}", n, m)
        weights[f"b{layer}"] = policy.array(f"b{layer}", m)
    return weights
