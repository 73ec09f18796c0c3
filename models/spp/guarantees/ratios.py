r"""Guarantees of PE, PRM and SPP, all computable.

With :math:`C = \max\{\max_n (F_n + B_n), \max_n (C^f_n + C^b_n)\}`:

* **G1** (PE): :math:`T \le \max_n \{(M + 4S - 4 - 2n) C + A_n\}`. Execute round by round, each of
  length C: a machine has at most one forward and one backward block in a round, and what they wait
  for is in earlier rounds. Starting blocks earlier in the same orders cannot hurt.
* **G2** (PE, afterwards): T over the optimum of the plan is at most T over its head-load-tail
  bound.
* **G3** (PE, beforehand): T over the optimum of the plan is at most :math:`2 + (4S - 4) / M`, since
  :math:`M C \le W \le OPT` and :math:`A_n \le W`; :math:`1 + (4S - 4) / M` if no stage is
  replicated.
* **G4** (PRM): with :math:`\Phi = b_{max} / b_{min}`, :math:`W_{PRM}(S) \le \Phi\, W^*(S)` for any
  order. Keep cuts and numbers of GPUs of the optimal plan and place its stages on consecutive
  blocks of the order: compute times stay, and each transfer and AllReduce grows by at most
  :math:`\Phi`. If all stages have to have equally many GPUs, both plans have.
* **G5** (SPP): :math:`T \le (2 + (4 S^* - 4) / M)\, \Phi\, OPT` with :math:`S^*` the stages of an
  optimal plan: G1 and G4 for that number of stages.

G1, G3 and G5 hold for half duplex, where :math:`M C \le W`; they do not know limits of microbatches
in flight. G4 and G5 assume GPUs of one speed. The paper has bounds of the kinds G1 and G5; their
exact factors are not known to us (reconstructed).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.system.declaring import guarantee

if TYPE_CHECKING:
    from ..instance import SppInstance


def half_duplex(instance: SppInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if the directions of a channel share it."""
    return instance.duplex == "half"


def unlimited(instance: SppInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if a stage may hold all microbatches."""
    return instance.options.memory_bytes is None and instance.options.max_in_flight is None


def equal_gpus(instance: SppInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if all GPUs have one speed."""
    speeds = instance.cluster.speeds
    return speeds is None or len(set(speeds)) == 1


def bandwidth_bound(instance: SppInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if moving a stage changes its times by no more than the bandwidths."""
    return instance.comm_model != "planner_code" and not instance.options.nvlink_rings


@guarantee(
    name="SPP",
    statement="T <= (2 + (4 S* - 4) / M) Phi OPT, S* at most the largest number of stages",
    reference="Luo et al. 2022; constant and proof ours (reconstructed)",
    methods=("spp",),
    assumptions={
        "channels of half duplex": half_duplex,
        "no limit of microbatches in flight": unlimited,
        "equal GPUs": equal_gpus,
        "times within a factor of the bandwidths": bandwidth_bound,
    },
)
def spp_ratio(instance: SppInstance, _parameters: Mapping[str, Any]) -> Fraction:
    """Return G5 with the largest number of stages that a plan can have."""
    stages, M = instance.most_stages, instance.num_microbatches
    return (2 + Fraction(4 * stages - 4, M)) * bandwidth_ratio(instance)


def bandwidth_ratio(instance: SppInstance) -> Fraction:
    """Return Phi, the largest over the smallest bandwidth, of transfers or of AllReduce."""
    cluster = instance.cluster
    if not isinstance(cluster, TwoLevelCluster):
        V = cluster.num_gpus
        links = {cluster.bandwidth(u, v) for u in range(V) for v in range(u)} or {Fraction(1)}
        return max(links) / min(links)
    if len(cluster.gpus_per_machine) == 1 or max(cluster.gpus_per_machine) == 1:
        return Fraction(1)
    exact = cluster.exact
    pairs = ((exact.intra, exact.inter), (exact.allreduce_intra, exact.allreduce_inter))
    return max(max(pair) / min(pair) for pair in pairs)


# -- assumptions -------------------------------------------------------------------------------
