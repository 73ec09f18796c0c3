r"""The best allgather with free root shares, by Frank's theorem.

Algorithm A5. On a network without switches the optimal rate of a broadcast stage whose root shares
are free is

.. math:: \min \frac{\sum_i c(\delta^-(Q_i))}{k - 1} \tag{F6}

over families of :math:`k \ge 2` disjoint sets of workers. Workers may be in none of them: a star
whose centre is a worker is limited by such a subpartition, not by a partition. A reduce-scatter is
the same with every arc reversed.

Dinkelbach's method: for a value :math:`\lambda` a family of least
:math:`\sum_i (c(\delta^-(Q_i)) - \lambda)` is needed (`truncation`); :math:`\lambda` can be reached
if that is at least :math:`-\lambda`.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.graphs.flows import BigInts, wide_integers
from gadgetopt.pieces.graphs.truncation import Family, cheapest_family
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import CutFamily, ForestPackingCertificate, ForestPackingInstance
from ...subproblems.strength import Strength, capacity_matrix
from ..proved_outcome import proved_outcome


def free_root_packing_number(capacity: BigInts, clock: Clock | None = None) -> Strength:
    r"""Return the best rate of a broadcast stage with free shares and the sets that limit it (A5).

    Parameters
    ----------
    capacity : integer ndarray, shape (n, n)
        Capacity from each of n >= 2 nodes (row) to each (column).
    clock : Clock, optional
        Of the run.
    """
    n = len(capacity)
    capacity = wide_integers(capacity)
    family: Family = [[v] for v in range(n)]
    rounds = 0
    while True:
        rounds += 1
        entering = sum(_entering(capacity, nodes) for nodes in family)
        lam = Fraction(entering, len(family) - 1)
        scaled = wide_integers(capacity.astype(object) * lam.denominator)
        found = cheapest_family(scaled, lam.numerator, partition=False, clock=clock)
        if found is None or found[0] >= -lam.numerator:
            return Strength(lam, family, rounds, found is not None)
        family = found[1]


@method(kind="relaxation", reference="A5", formulation="subpartition")
def subpartition(instance: ForestPackingInstance, limits: Limits) -> MethodOutcome:
    """Free-share allgather and its tight subpartition.

    Bound an allgather's or a reduce-scatter's rate by a tight subpartition (A5).

    The bound is the optimum if the shares are free, and valid if they are not.

    Raises
    ------
    ModelRefused
        For other collectives, and on networks with switches, half-duplex cables or NIC limits.
    """
    network = instance.network
    if len(instance.stages) != 1:
        raise ModelRefused("subpartition bound: it is for collectives of one stage")
    if len(network.switches) > 0:
        raise ModelRefused("subpartition bound: the network has switches")
    if not network.only_arc_rows:
        raise ModelRefused("subpartition bound: the network has half-duplex cables or NIC limits")
    (stage,) = instance.stages
    matrix = capacity_matrix(network)
    clock = Clock(limits)
    strength = free_root_packing_number(matrix if stage == "broadcast" else matrix.T, clock)
    multiplier = Fraction(1, len(strength.parts) - 1)
    cuts = tuple(
        CutFamily.Cut(
            stage=stage, nodes=tuple(network.labels[v] for v in nodes), multiplier=multiplier
        )
        for nodes in sorted(strength.parts)
    )
    return proved_outcome(
        instance,
        None,
        certificate=ForestPackingCertificate(proof=CutFamily(cuts=cuts)),
        limit_hit=None if strength.proved else "time_s",
        notes={
            "free_root_packing_number": str(strength.value * network.unit),
            "sets": len(cuts),
            "rounds": strength.rounds,
        },
    )


def _entering(capacity: BigInts, nodes: list[int]) -> int:
    r"""Return :math:`c(\delta^-(Q))`."""
    outside = np.ones(len(capacity), dtype=bool)
    outside[nodes] = False
    return int(capacity[outside][:, nodes].sum(dtype=object))
