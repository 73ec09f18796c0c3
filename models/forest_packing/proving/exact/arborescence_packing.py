"""Explicit optimal trees of symmetric networks without a linear program: strength, then trees."""

from __future__ import annotations

from gadgetopt.numbers.compiled import slow_note
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import ForestPackingInstance
from ...subproblems.cable_trees import (
    check_scope,
    disconnected,
    partition_certificate,
    plan,
)
from ...subproblems.strength import capacity_matrix
from ..proved_outcome import proved_outcome
from .cable_packing import pack_cables

NAME = "arborescence_packing"


@method(kind="exact", reference="F5, A3, A4", formulation="spanning_trees")
def arborescence_packing(instance: ForestPackingInstance, limits: Limits) -> MethodOutcome:
    r"""Symmetric networks: cables directed by the strength, then trees peeled off in integers.

    Return trees of total rate :math:`\tau` and the partition that proves it (A3, A4, F5).

    Parameters
    ----------
    instance : ForestPackingInstance
        An overlapped allreduce on full-duplex cables without switches and NIC limits.
    limits : Limits
        When the time is up, the trees found so far with the bound.

    Returns
    -------
    MethodOutcome
        Rate and bound are equal as fractions, unless a limit was hit.

    Raises
    ------
    ModelRefused
        If the instance is another, or its capacities are whole numbers of more than 61 bits.
    """
    check_scope(instance, NAME)
    network = instance.network
    clock = Clock(limits)
    with clock.phase("trees"):
        found = pack_cables(capacity_matrix(network), clock)
    certificate = partition_certificate(network, found.strength)
    if found.strength.value == 0:
        return disconnected(instance, found.strength)
    with clock.phase("exact plan"):
        rates = [rate * network.unit for _, rate in found.trees]
        pairs = plan(instance, [tree for tree, _ in found.trees], rates)
    return proved_outcome(
        instance,
        pairs,
        certificate=certificate,
        limit_hit=None if found.complete else "time_s",
        phases_s=clock.phases_s,
        notes={"minors": found.minors, **slow_note()},
    )
