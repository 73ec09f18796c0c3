r"""Mapping a job with the least traffic between servers (4): capacitated graph partitioning.

Vertices are replicas; each pair of one stage exchanges :math:`W_{s,s} = 4 h_s / k_s` bytes per
iteration, each pair of neighbouring stages :math:`W_{s,s+1} = 2 A_s / (k_s k_{s+1})`. What stays
within a server is maximised, which is not concave. In unary, :math:`x_{s,m} = \sum_v
\beta_{s,m,v}` with :math:`\beta_{s,m,v} \le \beta_{s,m,v-1}`, pairs within a stage are linear,
:math:`\binom{x}{2} = \sum_v (v - 1) \beta_v`, and the products of neighbours are
:math:`\sum_{v,v'} z_{v,v'}` with :math:`z \le \beta_{s,m,v}` and :math:`z \le \beta_{s+1,m,v'}`:

.. math::
    \min\ \sum_s W_{s,s} \Big[\tbinom{k_s}{2} - \sum_{m,v} (v - 1) \beta_{s,m,v}\Big]
        + \sum_{s < S} W_{s,s+1} \Big[k_s k_{s+1} - \sum_{m,v,v'} z_{s,m,v,v'}\Big]

subject to (M1) and (M2). Weights are whole multiples of 1 / `scale` GB.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pyomo.environ as pyo

from gadgetopt.models.a_srpt.instance import JobType
from gadgetopt.models.a_srpt.mapping import Counts


def weights(job_type: JobType) -> tuple[int, list[int], list[int]]:
    """Return the scale, and the scaled weights within each stage and to the next one."""
    k = job_type.replicas
    within = [
        4 * h / n if n > 1 else Fraction(0)
        for h, n in zip(job_type.gradient_gbytes, k, strict=True)
    ]
    between = [2 * a / (k[s] * k[s + 1]) for s, a in enumerate(job_type.activation_gbytes)]
    scale = math.lcm(*(w.denominator for w in (*within, *between)))
    return scale, [int(w * scale) for w in within], [int(w * scale) for w in between]


def build(job_type: JobType, free_gpus: Sequence[int]) -> pyo.ConcreteModel:
    """Build the MILP; the objective is in GB per iteration times the scale of `weights`."""
    k, f = job_type.replicas, free_gpus
    _, within, between = weights(job_type)
    m = pyo.ConcreteModel()
    m.M = pyo.RangeSet(0, len(f) - 1)
    m.S = pyo.RangeSet(0, len(k) - 1)
    m.units = pyo.Set(
        dimen=3,
        initialize=[(s, i, v) for s in m.S for i in m.M for v in range(1, min(k[s], f[i]) + 1)],
    )
    m.b = pyo.Var(m.units, domain=pyo.Binary, doc="stage s has at least v replicas on server m")
    m.pairs = pyo.Set(
        dimen=4,
        initialize=[
            (s, i, v, w)
            for s, i, v in m.units
            if s + 1 < len(k)
            for w in range(1, min(k[s + 1], f[i]) + 1)
        ],
    )
    m.z = pyo.Var(m.pairs, bounds=(0, 1), doc="replicas v of s and v' of s + 1 share server m")

    @m.Constraint(m.units, doc="a higher digit needs the lower one")
    def unary(m: Any, s: int, i: int, v: int) -> Any:
        return pyo.Constraint.Skip if v == 1 else m.b[s, i, v] <= m.b[s, i, v - 1]

    @m.Constraint(m.S, doc="M1: every replica is placed")
    def placed(m: Any, s: int) -> Any:
        return sum(m.b[t, i, v] for t, i, v in m.units if t == s) == k[s]

    @m.Constraint(m.M, doc="M2: free GPUs")
    def free(m: Any, server: int) -> Any:
        terms = [m.b[s, i, v] for s, i, v in m.units if i == server]
        return sum(terms) <= f[server] if terms else pyo.Constraint.Skip

    @m.Constraint(m.pairs, doc="products")
    def left(m: Any, s: int, i: int, v: int, w: int) -> Any:
        return m.z[s, i, v, w] <= m.b[s, i, v]

    @m.Constraint(m.pairs, doc="products")
    def right(m: Any, s: int, i: int, v: int, w: int) -> Any:
        return m.z[s, i, v, w] <= m.b[s + 1, i, w]

    total = sum(w * n * (n - 1) // 2 for w, n in zip(within, k, strict=True))
    total += sum(w * k[s] * k[s + 1] for s, w in enumerate(between))
    kept = sum(within[s] * (v - 1) * m.b[s, i, v] for s, i, v in m.units)
    kept += sum(between[s] * m.z[s, i, v, w] for s, i, v, w in m.pairs)
    m.cut = pyo.Objective(expr=total - kept)
    return m


def decode(model: pyo.ConcreteModel) -> Counts:
    """Return the replicas of every stage on every server."""
    counts = [[0] * len(model.M) for _ in model.S]
    for s, i, v in model.units:
        counts[s][i] += round(model.b[s, i, v].value)
    return tuple(tuple(row) for row in counts)
