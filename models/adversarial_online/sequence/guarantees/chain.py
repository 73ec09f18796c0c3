r"""Why the chain "k copies of each level, increasing" is a worst sequence of non-decreasing prices.

Let r be the largest level below :math:`\varphi_i`, and let no earlier price be above r: the prefix
up to r buys i units, each at the cheapest level that pays its price, and then k requests of r are
rejected. That is the closed form's sequence of i. If an earlier price is above r too, n sales are
above r in the closed form; leaving them out lowers ALG by their value a each and OPT by a - r,
which makes the ratio and the regret larger. So the closed form's maximum is on the chain.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gadgetopt.system.declaring import guarantee

if TYPE_CHECKING:
    from ..instance import AdversarialOnlineSequenceInstance


def unit_demand(
    instance: AdversarialOnlineSequenceInstance, _parameters: Mapping[str, Any]
) -> bool:
    """Return True if there is one resource, of which every request demands one unit."""
    return instance.unit_demand


def one_monotone_table(
    instance: AdversarialOnlineSequenceInstance, _parameters: Mapping[str, Any]
) -> bool:
    """Return True if the policy is one table whose prices do not fall."""
    return len(instance.policy) == 1 and instance.policy[0].monotone


def long_horizon(
    instance: AdversarialOnlineSequenceInstance, _parameters: Mapping[str, Any]
) -> bool:
    """Return True if there is time for k copies of every level."""
    return instance.horizon >= sum(instance.capacity) * len(instance.levels)


@guarantee(
    name="Chain",
    statement="no sequence is worse than the chain, for non-decreasing prices and N >= kJ",
    reference="standard theory, reconstructed",
    methods=("chain",),
    assumptions={
        "one unit of one resource": unit_demand,
        "one non-decreasing table": one_monotone_table,
        "N >= kJ": long_horizon,
    },
)
def chain_ratio(
    _instance: AdversarialOnlineSequenceInstance, _parameters: Mapping[str, Any]
) -> int:
    """Return 1."""
    return 1
