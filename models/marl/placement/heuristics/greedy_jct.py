"""A rule of ours: each task where the completion times of all placed jobs grow least."""

from __future__ import annotations

from gadgetopt.search.seeds import fixed_rng
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...subproblems.orders import Order
from ..baselines.rules import by_rule
from ..instance import PlacementInstance


@method(kind="heuristic", reference="this project")
def greedy_jct(
    instance: PlacementInstance, limits: Limits, *, order: Order = "fifo"
) -> MethodOutcome:
    """Each task where the completion times of all placed jobs grow least."""
    return by_rule(instance, limits, fixed_rng(), "greedy_jct", order)
