"""Forest packing that stops at a gap that is proved."""

from __future__ import annotations

from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.forest_packing import polished_packing
from ..instance import ForestPackingInstance


@method(kind="approximation", reference="A1, A2 (reconstructed)")
def packing_to_gap(
    instance: ForestPackingInstance,
    limits: Limits,
    *,
    eps: float = 0.1,
    target_gap: float = 0.02,
    prune: float = 1e-3,
) -> MethodOutcome:
    """Forest packing that stops as soon as bound and rate are close.

    Return the plan of `forest_packing`, whose packing also ends at a gap.

    Networks of a thousand workers take this long before A1 ends by its theorem.

    Parameters
    ----------
    instance : ForestPackingInstance
    limits : Limits
        `time_s` ends the packing early; plan and bound are then those found so far.
    eps, prune
        As in `forest_packing`.
    target_gap : float, default 0.02
        The packing ends when bound / rate - 1 is no more.

    Raises
    ------
    ValueError
        If `eps` is not between 0 and 1, or `prune` not in [0, 1).
    ModelRefused
        If switches copy and sum for more than ten workers.
    """
    return polished_packing(instance, limits, eps=eps, target_gap=target_gap, prune=prune)
