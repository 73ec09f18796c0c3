"""Variants of OneFlow's auto-parallel search: other constants, or its last step alone."""

from __future__ import annotations

from typing import Literal

from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.auto_parallel import Memory, Steps, search
from ..instance import OneFlowSbpInstance


@method(kind="heuristic", reference="auto_parallel, one step changed (reconstructed)")
def neighbourhoods(
    instance: OneFlowSbpInstance,
    limits: Limits,
    *,
    memory: Memory = "adaptive",
    start: Literal["first", "greedy"] = "greedy",
    ring: int = 3,
) -> MethodOutcome:
    """OneFlow's search of neighbourhoods alone: no node is eliminated or merged.

    Parameters
    ----------
    memory : "off", "slight", "moderate", "heavy" or "adaptive"
        As of `auto_parallel`.
    start : "first" or "greedy"
        The first labels, or those of the compiler's pass.
    ring : int
        Neighbours whose labels are chosen together with a node's.
    """
    return search(instance, limits, memory, Steps(reduce=False, start=start, ring=ring))


@method(kind="heuristic", reference="auto_parallel, other constants (reconstructed)")
def auto_parallel_tuned(
    instance: OneFlowSbpInstance,
    limits: Limits,
    *,
    memory: Memory = "adaptive",
    most_merged: int = 1000,
    ring: int = 3,
    reserve: float = 1.0,
) -> MethodOutcome:
    """OneFlow's auto-parallel search with other constants.

    Parameters
    ----------
    memory : "off", "slight", "moderate", "heavy" or "adaptive"
        As of `auto_parallel`.
    most_merged : int
        Labels that a merged node may have; 100 in `auto_parallel`.
    ring : int
        Neighbours whose labels are chosen together with a node's; 3 in `auto_parallel`.
    reserve : float
        The memory that is available is the limit divided by this; 1.04 * 1.06 in `auto_parallel`.
    """
    steps = Steps(most_merged=most_merged, ring=ring, reserve=reserve)
    return search(instance, limits, memory, steps)
