"""The bound of the tightest partition of a symmetric network (A4), see `subproblems.strength`."""

from __future__ import annotations

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import ForestPackingCertificate, ForestPackingInstance, Partition
from ...subproblems.strength import capacity_matrix, tree_packing_number
from ..proved_outcome import proved_outcome


@method(kind="relaxation", reference="A4", formulation="partition")
def partition(instance: ForestPackingInstance, limits: Limits) -> MethodOutcome:
    r"""Tree-packing number and its tight partition (symmetric networks).

    Bound the rate by the capacity between the parts of the tightest partition (A4).

    :math:`R^* = \tau` for an allreduce with full-duplex cables for free and for given roots
    (T1), and :math:`\tau / 2` with half-duplex cables. Other collectives get a valid bound.

    Raises
    ------
    ModelRefused
        If the network has switches, NIC limits or links that differ between directions.
    """
    network = instance.network
    if len(network.switches) > 0:
        raise ModelRefused("partition bound: the network has switches, a cut bound is tighter")
    if instance.nic_in_gbyte_per_s or instance.nic_out_gbyte_per_s:
        raise ModelRefused("partition bound: the network has NIC limits")
    capacity = capacity_matrix(network)
    if (capacity != capacity.T).any():
        raise ModelRefused("partition bound: a link's two directions have different bandwidths")
    clock = Clock(limits)
    strength = tree_packing_number(capacity, clock)
    labels = network.labels
    parts = tuple(tuple(labels[v] for v in part) for part in sorted(strength.parts))
    return proved_outcome(
        instance,
        None,
        certificate=ForestPackingCertificate(proof=Partition(parts=parts)),
        limit_hit=None if strength.proved else "time_s",
        notes={
            "tree_packing_number": str(strength.value * network.unit),
            "parts": len(parts),
            "rounds": strength.rounds,
        },
    )
