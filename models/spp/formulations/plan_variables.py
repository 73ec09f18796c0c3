r"""Plans as variables: what the models of the load, of the bound and of the makespan share.

Sets: stages n = 0..S-1, of which those at the end may be empty; layers l; GPUs v; numbers of GPUs
r = 1..V; distinct bandwidths :math:`\beta_1 < \dots < \beta_K`. Variables: :math:`z_{nl} = 1` if
layer l is in stage n or before; :math:`a_{nv} = 1` if GPU v is in stage n; :math:`u_{nr} = 1` if
stage n has r GPUs; :math:`h_{nk} = 1` and :math:`g_{nk} = 1` for the slowest link inside stage n
and between n and n + 1; times :math:`F_n, B_n, A_n, C^f_n, C^b_n`. Expressions: :math:`y_{nl} =
z_{nl} - z_{n-1,l}`, layer l is in stage n; :math:`k_{nl} = z_{nl} - z_{n,l+1}`, the stages up to n
end with layer l; :math:`w_n = \sum_r u_{nr}`, stage n is not empty.

.. math::
    & z_{nl} \le z_{n+1,l}, \quad z_{nl} \ge z_{n,l+1}, \quad z_{S-1,l} = 1       \tag{P1-P3} \\
    & \textstyle\sum_l y_{nl} \ge w_n, \quad y_{nl} \le w_n, \quad w_n \ge w_{n+1} \tag{P4} \\
    & \textstyle\sum_n a_{nv} = 1 \text{ (or} \le 1 \text{)}                       \tag{P5} \\
    & \textstyle\sum_r u_{nr} \le 1, \quad \sum_v a_{nv} = \sum_r r\, u_{nr}        \tag{P6-P7} \\
    & \textstyle\sum_k h_{nk} = 1, \quad
      \sum_{k: \beta_k > b_{uv}} h_{nk} + a_{nu} + a_{nv} \le 2                     \tag{P8} \\
    & \textstyle\sum_k g_{nk} = 1, \quad
      \sum_{k: \beta_k > b_{uv}} g_{nk} + a_{nu} + a_{n+1,v} \le 2                  \tag{P9} \\
    & F_n \ge \textstyle\frac1r \big(\sum_l p^f_l y_{nl} - \sum_l p^f_l (1 - u_{nr})\big)
      \text{, the same for } B_n                                                    \tag{P10} \\
    & A_n \ge \textstyle\frac{2 (r - 1)}{r \beta_k} \big(\sum_l \alpha_l y_{nl}
      - \sum_l \alpha_l (2 - h_{nk} - u_{nr})\big)                                  \tag{P11} \\
    & C^f_n \ge \textstyle\frac{1}{r r' \beta_k} \big(\sum_l d^f_l k_{nl}
      - d^f_{max} (3 - g_{nk} - u_{nr} - u_{n+1,r'})\big) + \tau\, w_{n+1}
      \text{, the same for } C^b_n                                                  \tag{P12}

With `min_end` transfers :math:`\min(r, r')` stands for :math:`r r'`. Empty stages take no time.
(P13): of two GPUs with the same links the first is in no later stage. (P14), for
`uniform_replicas`: :math:`u_{n+1,r} \le u_{nr}`, so that all stages that are used have equally
many GPUs.

(P10)-(P12) are rows with a big M. The disaggregated form has variables instead for what they
switch: :math:`q_{nlr}`, layer l in stage n of r GPUs; :math:`x_{nlrk}`, with slowest link k;
:math:`e_{nlrr'k}`, the cut after layer l between r and r' GPUs.

.. math::
    & \textstyle\sum_r q_{nlr} = y_{nl}, \quad q_{nlr} \le u_{nr}                    \tag{D1} \\
    & \textstyle\sum_k x_{nlrk} = q_{nlr}, \quad \sum_r x_{nlrk} \le h_{nk}           \tag{D2} \\
    & F_n = \textstyle\sum p^f_l q_{nlr} / r, \quad B_n = \sum p^b_l q_{nlr} / r, \quad
      A_n = \sum \frac{2 (r - 1)}{r \beta_k} \alpha_l x_{nlrk}                         \tag{D3} \\
    & \textstyle\sum_{rr'k} e_{nlrr'k} = k_{nl}                                       \tag{D4} \\
    & \textstyle\sum_{lr'k} e \le u_{nr}, \quad \sum_{lrk} e \le u_{n+1,r'}, \quad
      \sum_{lrr'} e \le g_{nk}                                                        \tag{D5} \\
    & C^f_n = \textstyle\sum \frac{d^f_l}{r r' \beta_k} e_{nlrr'k} + \tau\, w_{n+1}
      \text{, the same for } C^b_n                                                    \tag{D6}

It is tighter, and in HiGHS slower. Models count time in a power of two of seconds
(`Data.unit_s`), their objectives are in seconds.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyomo.core as pyo

from ..instance import SppInstance
from .plan_numbers import Data, in_stage, used
from .plan_times import add_disaggregated_times, add_times


def add_plan(m: pyo.ConcreteModel, instance: SppInstance, *, disaggregated: bool = False) -> Data:
    """Add (P1)-(P14), and the times of stages and channels, to a model; return its numbers."""
    data = Data.of(instance)
    m.N = pyo.RangeSet(0, data.S - 1)
    m.C = pyo.RangeSet(0, data.S - 2)
    m.L = pyo.RangeSet(0, data.L - 1)
    m.V = pyo.RangeSet(0, data.V - 1)
    m.R = pyo.RangeSet(1, data.V)
    m.K = pyo.RangeSet(0, len(data.link_levels) - 1)
    m.H = pyo.RangeSet(0, len(data.ring_levels) - 1)
    m.z = pyo.Var(m.N, m.L, domain=pyo.Binary, doc="layer l is in stage n or before")
    m.a = pyo.Var(m.N, m.V, domain=pyo.Binary, doc="GPU v is in stage n")
    m.u = pyo.Var(m.N, m.R, domain=pyo.Binary, doc="stage n has r GPUs")
    m.h = pyo.Var(m.N, m.H, domain=pyo.Binary, doc="slowest link inside stage n")
    m.g = pyo.Var(m.C, m.K, domain=pyo.Binary, doc="slowest link between stages n and n + 1")
    _add_partition(m)
    _add_mapping(m, instance, data)
    _add_levels(m, data)
    _declare_times(m, data)
    (add_disaggregated_times if disaggregated else add_times)(m, instance, data)
    return data


def _add_partition(m: pyo.ConcreteModel) -> None:
    last, end = m.N.last(), m.L.last()

    @m.Constraint(m.C, m.L, doc="(P1): stages up to n + 1 have the layers up to n")
    def nested(m: Any, n: int, ell: int) -> Any:
        return m.z[n, ell] <= m.z[n + 1, ell]

    @m.Constraint(m.N, [ell for ell in m.L if ell < end], doc="(P2): stages are contiguous")
    def contiguous(m: Any, n: int, ell: int) -> Any:
        return m.z[n, ell] >= m.z[n, ell + 1]

    @m.Constraint(m.L, doc="(P3): every layer is in a stage")
    def covered(m: Any, ell: int) -> Any:
        return m.z[last, ell] == 1

    @m.Constraint(m.N, doc="(P4): a stage with GPUs has a layer")
    def not_empty(m: Any, n: int) -> Any:
        return sum(in_stage(m, n, ell) for ell in m.L) >= used(m, n)

    @m.Constraint(m.N, m.L, doc="(P4): a stage without GPUs has none")
    def empty(m: Any, n: int, ell: int) -> Any:
        return in_stage(m, n, ell) <= used(m, n)

    @m.Constraint(m.C, doc="(P4): empty stages are the last")
    def in_order(m: Any, n: int) -> Any:
        return used(m, n) >= used(m, n + 1)


def _add_mapping(m: pyo.ConcreteModel, instance: SppInstance, data: Data) -> None:
    all_used = instance.options.use_all_gpus

    @m.Constraint(m.V, doc="(P5): every GPU is in a stage")
    def placed(m: Any, v: int) -> Any:
        stages = sum(m.a[n, v] for n in m.N)
        return stages == 1 if all_used else stages <= 1

    @m.Constraint(m.N, doc="(P6): a stage has one number of GPUs")
    def one_number(m: Any, n: int) -> Any:
        return used(m, n) <= 1

    @m.Constraint(m.N, doc="(P7): which is the number of its GPUs")
    def counted(m: Any, n: int) -> Any:
        return sum(m.a[n, v] for v in m.V) == sum(r * m.u[n, r] for r in m.R)

    if instance.options.uniform_replicas:

        @m.Constraint(m.C, m.R, doc="(P14): a stage has as many GPUs as the one before")
        def uniform(m: Any, n: int, r: int) -> Any:
            return m.u[n + 1, r] <= m.u[n, r]

    @m.Constraint(alike(data), m.C, doc="(P13): of equal GPUs the first is in no later stage")
    def ordered(m: Any, u: int, v: int, n: int) -> Any:
        return sum(m.a[k, u] for k in m.N if k <= n) >= sum(m.a[k, v] for k in m.N if k <= n)


def alike(data: Data) -> list[tuple[int, int]]:
    """Return pairs of GPUs with the same links to all others, each with its next one."""
    pairs: list[tuple[int, int]] = []
    for u, v in itertools.combinations(range(data.V), 2):
        others = [w for w in range(data.V) if w not in (u, v)]
        same = all(
            np.array_equal(table[u, others], table[v, others]) for table in (data.links, data.rings)
        )
        if same and not any(first == u for first, _ in pairs):
            pairs.append((u, v))
    return pairs


def _add_levels(m: pyo.ConcreteModel, data: Data) -> None:
    pairs = list(itertools.combinations(range(data.V), 2))

    @m.Constraint(m.N, doc="(P8): one level inside a stage")
    def one_ring(m: Any, n: int) -> Any:
        return sum(m.h[n, k] for k in m.H) == 1

    @m.Constraint(m.N, pairs, doc="(P8): no level above a link inside")
    def ring(m: Any, n: int, u: int, v: int) -> Any:
        above = [k for k in m.H if data.ring_levels[k] > data.rings[u, v]]
        if not above:
            return pyo.Constraint.Skip
        return sum(m.h[n, k] for k in above) + m.a[n, u] + m.a[n, v] <= 2

    @m.Constraint(m.C, doc="(P9): one level between stages")
    def one_link(m: Any, n: int) -> Any:
        return sum(m.g[n, k] for k in m.K) == 1

    ordered = list(itertools.permutations(range(data.V), 2))

    @m.Constraint(m.C, ordered, doc="(P9): no level above a link between")
    def link(m: Any, n: int, u: int, v: int) -> Any:
        above = [k for k in m.K if data.link_levels[k] > data.links[u, v]]
        if not above:
            return pyo.Constraint.Skip
        return sum(m.g[n, k] for k in above) + m.a[n, u] + m.a[n + 1, v] <= 2


def _declare_times(m: pyo.ConcreteModel, data: Data) -> None:
    """Declare the times, with bounds that hold in any plan."""
    slowest, ring = data.link_levels[0], data.ring_levels[0]
    latest = 2 * sum(data.params) / ring
    m.F = pyo.Var(m.N, bounds=(0, sum(data.fwd)), doc="forward time")
    m.B = pyo.Var(m.N, bounds=(0, sum(data.bwd)), doc="backward time")
    m.A = pyo.Var(m.N, bounds=(0, latest), doc="AllReduce")
    most = max(*data.act, *data.grad) / slowest + data.latency
    m.Cf = pyo.Var(m.C, bounds=(0, most), doc="forward transfer")
    m.Cb = pyo.Var(m.C, bounds=(0, most), doc="backward transfer")
