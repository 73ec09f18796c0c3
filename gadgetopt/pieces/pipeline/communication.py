r"""Times of transfers between stages and of AllReduce, as seconds per byte.

A transfer of d bytes from the GPUs X of a stage to the GPUs Y of the next takes
`d * transfer_factor(X, Y)`, and as long backward. Communication models:

pair_slice    $1 / (|X| |Y| \min_{u \in X, v \in Y} b_{uv})$: every pair moves an equal slice
min_end       $1 / (\min(|X|, |Y|) \min b_{uv})$: network cards are bottlenecks
simple        $1 / b^{in}$ if all GPUs are in one machine, else $1 / b^{x}$
planner_code  Y in one machine, $n_x$ GPUs of X elsewhere: $n_x / (|X| b^{x})$, or $1 / b^{in}$ if
              $n_x = 0$. Y in several machines: $1 / b^{xx}$

AllReduce of w bytes on the r GPUs of a stage is a ring over the slowest link,
$2 (r - 1) w / (r\,b)$.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import PipelineInstance


def transfer_factor(
    instance: PipelineInstance, source: Sequence[int], to: Sequence[int]
) -> Fraction:
    """Return the seconds per byte of a transfer between the GPUs of two stages.

    Parameters
    ----------
    instance : PipelineInstance
    source, to : sequence of int
        Disjoint, non-empty sets of GPUs: of the earlier stage, and of the later.
    """
    cluster, model = instance.cluster, instance.comm_model
    if model in ("pair_slice", "min_end"):
        slowest = min(cluster.bandwidth(u, v) for u in source for v in to)
        shares = len(source) * len(to) if model == "pair_slice" else min(len(source), len(to))
        return 1 / (shares * slowest)
    assert isinstance(cluster, TwoLevelCluster)
    machine, exact = cluster.machine_of, cluster.exact
    there = {machine[v] for v in to}
    if model == "simple":
        together = len(there | {machine[u] for u in source}) == 1
        return 1 / (exact.intra if together else exact.inter)
    if len(there) > 1:
        return 1 / exact.multi_inter
    outside = sum(machine[u] not in there for u in source)
    return Fraction(outside) / (len(source) * exact.inter) if outside else 1 / exact.intra


def allreduce_factor(instance: PipelineInstance, devices: Sequence[int]) -> Fraction:
    """Return the seconds per byte of an AllReduce on a stage's GPUs; 0 on a single one."""
    r = len(devices)
    if r == 1:
        return Fraction(0)
    cluster = instance.cluster
    ring = Fraction(2 * (r - 1), r)
    if not isinstance(cluster, TwoLevelCluster):
        return ring / min(cluster.bandwidth(u, v) for u in devices for v in devices if u < v)
    if len({cluster.machine_of[u] for u in devices}) > 1:
        return ring / cluster.exact.allreduce_inter
    rings = r // 2 if instance.options.nvlink_rings else 1
    return ring / (cluster.exact.allreduce_intra * rings)
