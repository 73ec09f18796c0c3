"""Numbers of the integer programs of plans, and expressions over their variables."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.exact import rationals
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.numbers.units import power_of_two_unit
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster

from ..instance import SppInstance
from ..work import even_work_s

#: Rows of (P8), (P9) and (P12) of a model that is still built. Tuned: `benchmarks/constants.py`.
MOST_ROWS = 200_000

#: Binary digits of the time of even work in units. Tuned: `benchmarks/constants.py`.
UNITS = 9

Bandwidths = npt.NDArray[np.object_]


@dataclass(frozen=True)
class Data:
    """Numbers of the models, in the model's unit of time.

    Attributes
    ----------
    unit_s : Fraction
        Seconds of the unit.
    L, V, S, M : int
        Layers, GPUs, most stages, microbatches.
    fwd, bwd : list of Fraction
        Times of the layers, in units.
    params, act, grad : list of Fraction
        Sizes of the layers in bytes per unit, so that divided by a bandwidth they are times.
    latency : Fraction
        Of a transfer, in units.
    links, rings : ndarray of Fraction, shape (V, V)
        Bandwidths of transfers, and of AllReduce, in B/s.
    link_levels, ring_levels : list of Fraction
        Their distinct values, ascending.
    """

    unit_s: Fraction
    L: int
    V: int
    S: int
    M: int
    fwd: list[Fraction]
    bwd: list[Fraction]
    params: list[Fraction]
    act: list[Fraction]
    grad: list[Fraction]
    latency: Fraction
    links: Bandwidths
    rings: Bandwidths
    link_levels: list[Fraction]
    ring_levels: list[Fraction]

    @classmethod
    def of(cls, instance: SppInstance) -> Data:
        """Return the numbers of an instance; raise `ModelRefused` if it is not of this kind."""
        _check(instance)
        layers, options = instance.layers, instance.options
        links = _links(instance)
        rings = _rings(instance, links)
        V, unit = instance.num_gpus, power_of_two_unit(even_work_s(instance), UNITS)
        forward = rationals(layer.fwd_time_s for layer in layers)
        backward = rationals(layer.bwd_time_s for layer in layers)
        again = 1 if options.recompute else 0
        grads = [x.act_bytes if x.grad_bytes is None else x.grad_bytes for x in layers]
        data = cls(
            unit_s=unit,
            L=len(layers),
            V=V,
            S=instance.most_stages,
            M=instance.num_microbatches,
            fwd=[x / unit for x in forward],
            bwd=[(b + again * f) / unit for f, b in zip(forward, backward, strict=True)],
            params=[x / unit for x in rationals(layer.param_bytes for layer in layers)],
            act=[x / unit for x in rationals(layer.act_bytes for layer in layers)],
            grad=[x / unit for x in rationals(grads)],
            latency=decimal_rational(options.transfer_latency_s) / unit,
            links=links,
            rings=rings,
            link_levels=_levels(links),
            ring_levels=_levels(rings),
        )
        rows = data.S * (2 * V * V + len(data.link_levels) * V * V)
        if rows > MOST_ROWS:
            raise ModelRefused(f"the model has more than {MOST_ROWS} rows")
        return data


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


def _links(instance: SppInstance) -> Bandwidths:
    V, cluster = instance.num_gpus, instance.cluster
    rows = [[cluster.bandwidth(u, v) if u != v else 0 for v in range(V)] for u in range(V)]
    return np.array(rows, dtype=object)


def _rings(instance: SppInstance, links: Bandwidths) -> Bandwidths:
    cluster = instance.cluster
    if not isinstance(cluster, TwoLevelCluster):
        return links
    inside, across = cluster.exact.allreduce_intra, cluster.exact.allreduce_inter
    if across > inside:
        raise ModelRefused("cluster: AllReduce is faster across machines than inside them")
    machine = cluster.machine_of
    rows = [[inside if k == j else across for j in machine] for k in machine]
    return np.array(rows, dtype=object)


def _levels(bandwidths: Bandwidths) -> list[Fraction]:
    V = len(bandwidths)
    return sorted({bandwidths[u, v] for u in range(V) for v in range(u)}) or [Fraction(1)]


def in_stage(m: pyo.ConcreteModel, n: int, ell: int) -> Any:
    """Return y_nl: layer l is in stage n."""
    return m.z[n, ell] - m.z[n - 1, ell] if n else m.z[n, ell]


def ends_with(m: pyo.ConcreteModel, n: int, ell: int) -> Any:
    """Return k_nl: the stages up to n end with layer l."""
    return m.z[n, ell] - m.z[n, ell + 1] if ell < m.L.last() else m.z[n, ell]


def used(m: pyo.ConcreteModel, n: int) -> Any:
    """Return w_n: stage n is not empty."""
    return sum(m.u[n, r] for r in m.R)
