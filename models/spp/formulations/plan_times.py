"""Times in the integer programs of plans: with a big M, (P10)-(P12), or disaggregated, (D1)-(D6).

`plan_variables` states both.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from ..instance import SppInstance
from .plan_numbers import Data, ends_with, in_stage, used


def shares(instance: SppInstance, r: int, after: int) -> int:
    """Return into how many slices a transfer is divided."""
    return r * after if instance.comm_model == "pair_slice" else min(r, after)


def add_times(m: pyo.ConcreteModel, instance: SppInstance, data: Data) -> None:
    """Add (P10)-(P12)."""

    def compute(times: list[Fraction], n: int, r: int) -> Any:
        total = sum(times)
        inside = sum(times[ell] * in_stage(m, n, ell) for ell in m.L)
        return (inside - total * (1 - m.u[n, r])) / r

    @m.Constraint(m.N, m.R, doc="(P10): forward time")
    def forward(m: Any, n: int, r: int) -> Any:
        return m.F[n] >= compute(data.fwd, n, r)

    @m.Constraint(m.N, m.R, doc="(P10): backward time")
    def backward(m: Any, n: int, r: int) -> Any:
        return m.B[n] >= compute(data.bwd, n, r)

    total = sum(data.params)

    @m.Constraint(m.N, m.H, [r for r in m.R if r > 1], doc="(P11): AllReduce")
    def allreduce(m: Any, n: int, k: int, r: int) -> Any:
        per_byte = 2 * (r - 1) / (r * data.ring_levels[k])
        inside = sum(per_byte * data.params[ell] * in_stage(m, n, ell) for ell in m.L)
        return m.A[n] >= inside - per_byte * total * (2 - m.h[n, k] - m.u[n, r])

    def transfer(sizes: list[Fraction], n: int, k: int, r: int, after: int) -> Any:
        per_byte = 1 / (shares(instance, r, after) * data.link_levels[k])
        crossing = sum(
            per_byte * sizes[ell] * ends_with(m, n, ell) for ell in m.L if ell < data.L - 1
        )
        missing = 3 - m.g[n, k] - m.u[n, r] - m.u[n + 1, after]
        return crossing - per_byte * max(sizes[:-1]) * missing + data.latency * used(m, n + 1)

    triples = [(k, r, s) for k in m.K for r in m.R for s in m.R if r + s <= data.V]

    @m.Constraint(m.C, triples, doc="(P12): forward transfer")
    def send(m: Any, n: int, k: int, r: int, after: int) -> Any:
        return m.Cf[n] >= transfer(data.act, n, k, r, after)

    @m.Constraint(m.C, triples, doc="(P12): backward transfer")
    def send_back(m: Any, n: int, k: int, r: int, after: int) -> Any:
        return m.Cb[n] >= transfer(data.grad, n, k, r, after)


def add_disaggregated_times(m: pyo.ConcreteModel, instance: SppInstance, data: Data) -> None:
    """Add (D1)-(D6)."""
    _add_disaggregated_stages(m, data)
    if data.S > 1:
        _add_disaggregated_channels(m, instance, data)


def _add_disaggregated_stages(m: pyo.ConcreteModel, data: Data) -> None:
    m.q = pyo.Var(m.N, m.L, m.R, bounds=(0, 1), doc="layer l is in stage n, which has r GPUs")
    m.x = pyo.Var(m.N, m.L, m.R, m.H, bounds=(0, 1), doc="and whose slowest link is k")

    @m.Constraint(m.N, m.L, doc="(D1): the layers of a stage, by its number of GPUs")
    def split_layers(m: Any, n: int, ell: int) -> Any:
        return sum(m.q[n, ell, r] for r in m.R) == in_stage(m, n, ell)

    @m.Constraint(m.N, m.L, m.R, doc="(D1): only by the one it has")
    def by_number(m: Any, n: int, ell: int, r: int) -> Any:
        return m.q[n, ell, r] <= m.u[n, r]

    @m.Constraint(m.N, m.L, m.R, doc="(D2): and by its slowest link")
    def split_links(m: Any, n: int, ell: int, r: int) -> Any:
        return sum(m.x[n, ell, r, k] for k in m.H) == m.q[n, ell, r]

    @m.Constraint(m.N, m.L, m.H, doc="(D2): only by the one it has")
    def by_link(m: Any, n: int, ell: int, k: int) -> Any:
        return sum(m.x[n, ell, r, k] for r in m.R) <= m.h[n, k]

    @m.Constraint(m.N, doc="(D3): forward time")
    def forward(m: Any, n: int) -> Any:
        return m.F[n] == sum(data.fwd[ell] / r * m.q[n, ell, r] for ell in m.L for r in m.R)

    @m.Constraint(m.N, doc="(D3): backward time")
    def backward(m: Any, n: int) -> Any:
        return m.B[n] == sum(data.bwd[ell] / r * m.q[n, ell, r] for ell in m.L for r in m.R)

    @m.Constraint(m.N, doc="(D3): AllReduce")
    def allreduce(m: Any, n: int) -> Any:
        return m.A[n] == sum(
            2 * (r - 1) / (r * data.ring_levels[k]) * data.params[ell] * m.x[n, ell, r, k]
            for ell in m.L
            for r in m.R
            for k in m.H
        )


def _add_disaggregated_channels(m: pyo.ConcreteModel, instance: SppInstance, data: Data) -> None:
    inner = [ell for ell in m.L if ell < data.L - 1]
    kinds = [(r, s, k) for r in m.R for s in m.R if r + s <= data.V for k in m.K]
    m.e = pyo.Var(
        m.C, inner, kinds, bounds=(0, 1), doc="cut after l, r GPUs before, r' after, link k"
    )

    def of(n: int, r: int | None = None, s: int | None = None, k: int | None = None) -> Any:
        return sum(
            m.e[n, ell, kind]
            for ell in inner
            for kind in kinds
            if all(want is None or have == want for want, have in zip((r, s, k), kind, strict=True))
        )

    @m.Constraint(m.C, inner, doc="(D4): a cut has one kind of channel")
    def one_kind(m: Any, n: int, ell: int) -> Any:
        return sum(m.e[n, ell, kind] for kind in kinds) == ends_with(m, n, ell)

    @m.Constraint(m.C, m.R, doc="(D5): that of the stage before")
    def cut_before(m: Any, n: int, r: int) -> Any:
        return of(n, r=r) <= m.u[n, r]

    @m.Constraint(m.C, m.R, doc="(D5): of the stage after")
    def cut_after(m: Any, n: int, s: int) -> Any:
        return of(n, s=s) <= m.u[n + 1, s]

    @m.Constraint(m.C, m.K, doc="(D5): and of the slowest link")
    def cut_link(m: Any, n: int, k: int) -> Any:
        return of(n, k=k) <= m.g[n, k]

    def transfer(sizes: list[Fraction], n: int) -> Any:
        return data.latency * used(m, n + 1) + sum(
            sizes[ell] / (shares(instance, r, s) * data.link_levels[k]) * m.e[n, ell, r, s, k]
            for ell in inner
            for r, s, k in kinds
        )

    @m.Constraint(m.C, doc="(D6): forward transfer")
    def send(m: Any, n: int) -> Any:
        return m.Cf[n] == transfer(data.act, n)

    @m.Constraint(m.C, doc="(D6): backward transfer")
    def send_back(m: Any, n: int) -> Any:
        return m.Cb[n] == transfer(data.grad, n)
