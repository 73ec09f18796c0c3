"""Numbers of the integer programs of plans, and expressions over their variables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster

from ..algorithms.block_costs import bandwidth_matrix
from ..certificate import even_work_s
from ..instance import SppInstance

#: Rows of (P8), (P9) and (P12) of a model that is still built.
MOST_ROWS = 200_000

#: Binary digits of the time of even work in units.
_UNITS = 9


@dataclass(frozen=True)
class Data:
    """Numbers of the models, in the model's unit of time.

    Attributes
    ----------
    unit_s : float
        Seconds of the unit.
    L, V, S, M : int
        Layers, GPUs, most stages, microbatches.
    fwd, bwd : list of float
        Times of the layers, in units.
    params, act, grad : list of float
        Sizes of the layers in bytes per unit, so that divided by a bandwidth they are times.
    latency : float
        Of a transfer, in units.
    links, rings : ndarray, shape (V, V)
        Bandwidths of transfers, and of AllReduce, in B/s.
    link_levels, ring_levels : list of float
        Their distinct values, ascending.
    """

    unit_s: float
    L: int
    V: int
    S: int
    M: int
    fwd: list[float]
    bwd: list[float]
    params: list[float]
    act: list[float]
    grad: list[float]
    latency: float
    links: Floats
    rings: Floats
    link_levels: list[float]
    ring_levels: list[float]

    @classmethod
    def of(cls, instance: SppInstance) -> Data:
        """Return the numbers of an instance; raise `ModelRefused` if it is not of this kind."""
        _check(instance)
        layers, options = instance.layers, instance.options
        links = bandwidth_matrix(instance)
        rings = _rings(instance, links)
        V, unit = instance.num_gpus, unit_s(float(even_work_s(instance)))
        again = [x.fwd_time_s if options.recompute else 0.0 for x in layers]
        grads = [x.act_bytes if x.grad_bytes is None else x.grad_bytes for x in layers]
        data = cls(
            unit_s=unit,
            L=len(layers),
            V=V,
            S=instance.most_stages,
            M=instance.num_microbatches,
            fwd=[x.fwd_time_s / unit for x in layers],
            bwd=[(x.bwd_time_s + f) / unit for x, f in zip(layers, again, strict=True)],
            params=[x.param_bytes / unit for x in layers],
            act=[x.act_bytes / unit for x in layers],
            grad=[d / unit for d in grads],
            latency=options.transfer_latency_s / unit,
            links=links,
            rings=rings,
            link_levels=_levels(links),
            ring_levels=_levels(rings),
        )
        rows = data.S * (2 * V * V + len(data.link_levels) * V * V)
        if rows > MOST_ROWS:
            raise ModelRefused(f"the model has more than {MOST_ROWS} rows")
        return data


def unit_s(seconds: float) -> float:
    """Return the power of two in which a time of so many seconds is some hundreds.

    Solvers' tolerances are absolute, so models count time in it.
    """
    return 2.0 ** (math.frexp(seconds)[1] - _UNITS) if seconds else 1.0


def _check(instance: SppInstance) -> None:
    options = instance.options
    reasons = {
        "cluster.speeds": instance.cluster.speeds is not None,
        f"comm_model {instance.comm_model!r}": instance.comm_model not in ("pair_slice", "min_end"),
        "options.overlap_allreduce": options.overlap_allreduce,
        "options.nvlink_rings": options.nvlink_rings,
    }
    for reason, there in reasons.items():
        if there:
            raise ModelRefused(f"{reason}: not in the integer programs of plans")


def _rings(instance: SppInstance, links: Floats) -> Floats:
    cluster = instance.cluster
    if not isinstance(cluster, TwoLevelCluster):
        return links
    inside = float(cluster.exact.allreduce_intra)
    across = float(cluster.exact.allreduce_inter)
    if across > inside:
        raise ModelRefused("cluster: AllReduce is faster across machines than inside them")
    machine = np.array(cluster.machine_of)
    return np.where(machine[:, None] == machine, inside, across)


def _levels(bandwidths: Floats) -> list[float]:
    V = len(bandwidths)
    return sorted({float(bandwidths[u, v]) for u in range(V) for v in range(u)}) or [1.0]


def in_stage(m: pyo.ConcreteModel, n: int, ell: int) -> Any:
    """Return y_nl: layer l is in stage n."""
    return m.z[n, ell] - m.z[n - 1, ell] if n else m.z[n, ell]


def ends_with(m: pyo.ConcreteModel, n: int, ell: int) -> Any:
    """Return k_nl: the stages up to n end with layer l."""
    return m.z[n, ell] - m.z[n, ell + 1] if ell < m.L.last() else m.z[n, ell]


def used(m: pyo.ConcreteModel, n: int) -> Any:
    """Return w_n: stage n is not empty."""
    return sum(m.u[n, r] for r in m.R)
