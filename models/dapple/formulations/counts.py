r"""Plans as variables, with GPUs counted by machine: what the models of bound and makespan share.

Sets: stages n = 0..S-1, of which those at the end may be empty; layers l; machines k of
:math:`\sigma_k` GPUs; numbers of GPUs r = 1..G. Variables: :math:`z_{nl} = 1` if layer l is in
stage n or before; :math:`c_{nk}` GPUs of machine k in stage n, :math:`e_{nk} = 1` if there are any;
:math:`u_{nr} = 1` if stage n has r GPUs; :math:`\pi_n = 1` if stage n spans machines;
:math:`\chi_n = 1` if link n crosses machines; times :math:`F_n, B_n, A_n, C^f_n, C^b_n`.
Expressions: :math:`y_{nl} = z_{nl} - z_{n-1,l}`, layer l is in stage n; :math:`k_{nl} = z_{nl} -
z_{n,l+1}`, the stages up to n end with layer l; :math:`w_n = \sum_r u_{nr}`, stage n is not empty.

.. math::
    & z_{nl} \le z_{n+1,l}, \quad z_{nl} \ge z_{n,l+1}, \quad z_{S-1,l} = 1, \quad
      \textstyle\sum_l y_{nl} \ge w_n, \quad y_{nl} \le w_n, \quad w_n \ge w_{n+1}  \tag{0} \\
    & \textstyle\sum_n c_{nk} = \sigma_k \text{ (or} \le \text{)}                    \tag{1} \\
    & \textstyle\sum_r u_{nr} \le 1, \quad \sum_k c_{nk} = \sum_r r\, u_{nr}          \tag{2} \\
    & e_{nk} \le c_{nk} \le \sigma_k e_{nk}                                          \tag{3} \\
    & \pi_n \ge e_{nk} + e_{nk'} - 1 \quad k < k'                                    \tag{4} \\
    & \chi_n \ge e_{nk} + e_{n+1,k'} - 1 \quad k \ne k'                              \tag{5} \\
    & F_n \ge \textstyle\frac1r \big(\sum_l p^f_l y_{nl} - \sum_l p^f_l (1 - u_{nr})\big)
      \text{, the same for } B_n                                                     \tag{6} \\
    & A_n \ge \textstyle\frac{2(r-1)}{r B^{in}_{ar}} \big(\sum_l \alpha_l y_{nl}
      - \bar\alpha (1 - u_{nr})\big), \quad
      A_n \ge \frac{2(r-1)}{r B^x_{ar}} \big(\sum_l \alpha_l y_{nl}
      - \bar\alpha (2 - u_{nr} - \pi_n)\big)                                         \tag{7} \\
    & C^f_n \ge \textstyle\sum_l d_l k_{nl} / B^{in} + \tau w_{n+1}, \quad
      C^f_n \ge \sum_l d_l k_{nl} / B^x - \frac{\max d}{B^x} (1 - \chi_n) + \tau w_{n+1}
      \text{, the same for } C^b_n                                                   \tag{8} \\
    & c_{0k} \ge c_{0,k+1} \text{ for machines of one size}                          \tag{10} \\
    & u_{n+1,r} \le u_{nr} \text{ for uniform\_replicas}                              \tag{10'}

Counting GPUs by machine instead of naming them is what makes the model small: GPUs of a machine are
identical. Transfers are those of the model "simple"; those of "planner_code" are a product of what
crosses and a share of the GPUs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.exact import rationals
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.numbers.units import power_of_two_unit
from gadgetopt.pieces.pipeline.cluster import TwoLevelBandwidths
from gadgetopt.pieces.pipeline.plan import Plan

from ..instance import DappleInstance

#: Stages times (layers + GPUs x machines) of a model that is still built.
#: Tuned: `benchmarks/constants.py`.
MOST_CELLS = 20_000

#: Binary digits of the time of even work in units. Tuned: `benchmarks/constants.py`.
_UNITS = 9


@dataclass(frozen=True)
class Data:
    """Numbers of the models, in the model's unit of time; one a layer, of a microbatch.

    Attributes
    ----------
    unit_s : Fraction
        Seconds of the unit.
    fwd, bwd : list of Fraction
        Times, in units.
    params, act, grad : list of Fraction
        Sizes in bytes per unit, so that divided by a bandwidth they are times.
    latency : Fraction
        Of a transfer, in units.
    """

    unit_s: Fraction
    L: int
    G: int
    S: int
    M: int
    sizes: tuple[int, ...]
    fwd: list[Fraction]
    bwd: list[Fraction]
    params: list[Fraction]
    act: list[Fraction]
    grad: list[Fraction]
    latency: Fraction
    bandwidth: TwoLevelBandwidths
    rings: list[int]

    @classmethod
    def of(cls, instance: DappleInstance, stages: int | None) -> Data:
        """Return the numbers of an instance; raise `ModelRefused` if it is not of this kind."""
        _check(instance)
        layers, options = instance.layers, instance.options
        G, sizes = instance.num_gpus, instance.cluster.gpus_per_machine
        S = instance.most_stages if stages is None else min(stages, instance.most_stages)
        if S * (len(layers) + G * len(sizes)) > MOST_CELLS:
            raise ModelRefused(
                f"{S} stages of {len(layers)} layers on {G} GPUs in {len(sizes)} machines are more "
                f"than {MOST_CELLS} entries"
            )
        forward = rationals(layer.fwd_time_s for layer in layers)
        backward = rationals(layer.bwd_time_s for layer in layers)
        even_work_s = instance.num_microbatches * (sum(forward) + sum(backward)) / G
        unit = power_of_two_unit(even_work_s, _UNITS)
        again = 1 if options.recompute else 0
        inner = layers[:-1]  # nothing crosses after the last layer
        grads = [x.act_bytes if x.grad_bytes is None else x.grad_bytes for x in inner]
        return cls(
            unit_s=unit,
            L=len(layers),
            G=G,
            S=S,
            M=instance.num_microbatches,
            sizes=sizes,
            fwd=[x / unit for x in forward],
            bwd=[(b + again * f) / unit for f, b in zip(forward, backward, strict=True)],
            params=[x / unit for x in rationals(layer.param_bytes for layer in layers)],
            act=[x / unit for x in rationals(layer.act_bytes for layer in inner)],
            grad=[x / unit for x in rationals(grads)],
            latency=decimal_rational(options.transfer_latency_s) / unit,
            bandwidth=instance.cluster.exact,
            rings=[r // 2 if options.nvlink_rings and r > 1 else 1 for r in range(G + 1)],
        )


def _check(instance: DappleInstance) -> None:
    bandwidth, options = instance.cluster.exact, instance.options
    reasons = {
        "comm_model 'planner_code'": instance.comm_model != "simple",
        "cluster.speeds": instance.cluster.speeds is not None,
        "max_copies above 1": instance.max_copies > 1,
        "options.overlap_allreduce": options.overlap_allreduce,
        "options.memory_bytes": options.memory_bytes is not None,
        "a slower network inside machines": bandwidth.inter > bandwidth.intra
        or bandwidth.allreduce_inter > bandwidth.allreduce_intra,
    }
    for reason, there in reasons.items():
        if there:
            raise ModelRefused(f"{reason}: not in the integer programs of plans")


def add_plan(m: pyo.ConcreteModel, instance: DappleInstance, stages: int | None = None) -> Data:
    """Add (0)-(8), (10) and (10') to a model; return its numbers."""
    data = Data.of(instance, stages)
    m.N = pyo.RangeSet(0, data.S - 1)
    m.C = pyo.RangeSet(0, data.S - 2)
    m.L = pyo.RangeSet(0, data.L - 1)
    m.K = pyo.RangeSet(0, len(data.sizes) - 1)
    m.R = pyo.RangeSet(1, data.G)
    m.z = pyo.Var(m.N, m.L, domain=pyo.Binary, doc="layer l is in stage n or before")
    m.c = pyo.Var(
        m.N,
        m.K,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda _, n, k: (0, data.sizes[k]),
        doc="GPUs of machine k in stage n",
    )
    m.e = pyo.Var(m.N, m.K, domain=pyo.Binary, doc="stage n has GPUs of machine k")
    m.u = pyo.Var(m.N, m.R, domain=pyo.Binary, doc="stage n has r GPUs")
    m.pi = pyo.Var(m.N, bounds=(0, 1), doc="stage n spans machines")
    m.chi = pyo.Var(m.C, bounds=(0, 1), doc="link n crosses machines")
    _add_partition(m)
    _add_machines(m, instance, data)
    _declare_times(m, data)
    _add_stage_times(m, data)
    _add_link_times(m, data)
    return data


def in_stage(m: pyo.ConcreteModel, n: int, i: int) -> Any:
    """Return y_nl: layer l is in stage n."""
    return m.z[n, i] - m.z[n - 1, i] if n else m.z[n, i]


def used(m: pyo.ConcreteModel, n: int) -> Any:
    """Return w_n: stage n is not empty."""
    return sum(m.u[n, r] for r in m.R)


def _add_partition(m: pyo.ConcreteModel) -> None:
    last, end = m.N.last(), m.L.last()

    @m.Constraint(m.C, m.L, doc="(0): stages up to n + 1 have the layers up to n")
    def nested(m: Any, n: int, i: int) -> Any:
        return m.z[n, i] <= m.z[n + 1, i]

    @m.Constraint(m.N, [i for i in m.L if i < end], doc="(0): stages are contiguous")
    def contiguous(m: Any, n: int, i: int) -> Any:
        return m.z[n, i] >= m.z[n, i + 1]

    @m.Constraint(m.L, doc="(0): every layer is in a stage")
    def covered(m: Any, i: int) -> Any:
        return m.z[last, i] == 1

    @m.Constraint(m.N, doc="(0): a stage with GPUs has a layer")
    def not_empty(m: Any, n: int) -> Any:
        return sum(in_stage(m, n, i) for i in m.L) >= used(m, n)

    @m.Constraint(m.N, m.L, doc="(0): a stage without GPUs has none")
    def empty(m: Any, n: int, i: int) -> Any:
        return in_stage(m, n, i) <= used(m, n)

    @m.Constraint(m.C, doc="(0): empty stages are the last")
    def in_order(m: Any, n: int) -> Any:
        return used(m, n) >= used(m, n + 1)


def _add_machines(m: pyo.ConcreteModel, instance: DappleInstance, data: Data) -> None:
    all_used = instance.options.use_all_gpus

    @m.Constraint(m.K, doc="(1): the GPUs of a machine are in stages")
    def placed(m: Any, k: int) -> Any:
        total = sum(m.c[n, k] for n in m.N)
        return total == data.sizes[k] if all_used else total <= data.sizes[k]

    @m.Constraint(m.N, doc="(2): a stage has one number of GPUs")
    def one_number(m: Any, n: int) -> Any:
        return used(m, n) <= 1

    @m.Constraint(m.N, doc="(2): which is the number of its GPUs")
    def counted(m: Any, n: int) -> Any:
        return sum(m.c[n, k] for k in m.K) == sum(r * m.u[n, r] for r in m.R)

    if instance.options.uniform_replicas:

        @m.Constraint(m.C, m.R, doc="(10'): a stage has as many GPUs as the one before")
        def uniform(m: Any, n: int, r: int) -> Any:
            return m.u[n + 1, r] <= m.u[n, r]

    @m.Constraint(m.N, m.K, doc="(3): a machine used has a GPU in the stage")
    def is_used(m: Any, n: int, k: int) -> Any:
        return m.e[n, k] <= m.c[n, k]

    @m.Constraint(m.N, m.K, doc="(3): one not used has none")
    def not_used(m: Any, n: int, k: int) -> Any:
        return m.c[n, k] <= data.sizes[k] * m.e[n, k]

    pairs = [(k, j) for k in m.K for j in m.K if k < j]

    @m.Constraint(m.N, pairs, doc="(4): a stage on two machines spans machines")
    def spans(m: Any, n: int, k: int, j: int) -> Any:
        return m.pi[n] >= m.e[n, k] + m.e[n, j] - 1

    both_ways = [(k, j) for k in m.K for j in m.K if k != j]

    @m.Constraint(m.C, both_ways, doc="(5): a link between two machines crosses")
    def crosses(m: Any, n: int, k: int, j: int) -> Any:
        return m.chi[n] >= m.e[n, k] + m.e[n + 1, j] - 1

    alike = [k for k in m.K if k < m.K.last() and data.sizes[k] == data.sizes[k + 1]]

    @m.Constraint(alike, doc="(10): of machines of one size the first has more of stage 0")
    def ordered(m: Any, k: int) -> Any:
        return m.c[0, k] >= m.c[0, k + 1]


def _declare_times(m: pyo.ConcreteModel, data: Data) -> None:
    """Declare the times, with bounds that hold in any plan."""
    across = data.bandwidth.allreduce_inter
    m.F = pyo.Var(m.N, bounds=(0, sum(data.fwd)), doc="forward time, units")
    m.B = pyo.Var(m.N, bounds=(0, sum(data.bwd)), doc="backward time, units")
    m.A = pyo.Var(m.N, bounds=(0, 2 * sum(data.params) / across), doc="AllReduce, units")
    largest = max([Fraction(0), *data.act, *data.grad])
    most = largest / data.bandwidth.inter + data.latency
    m.Cf = pyo.Var(m.C, bounds=(0, most), doc="forward transfer, units")
    m.Cb = pyo.Var(m.C, bounds=(0, most), doc="backward transfer, units")


def _add_stage_times(m: pyo.ConcreteModel, data: Data) -> None:
    def compute(times: list[Fraction], n: int, r: int) -> Any:
        inside = sum(times[i] / r * in_stage(m, n, i) for i in m.L)
        return inside - sum(times) / r * (1 - m.u[n, r])

    @m.Constraint(m.N, m.R, doc="(6): forward time")
    def forward(m: Any, n: int, r: int) -> Any:
        return m.F[n] >= compute(data.fwd, n, r)

    @m.Constraint(m.N, m.R, doc="(6): backward time")
    def backward(m: Any, n: int, r: int) -> Any:
        return m.B[n] >= compute(data.bwd, n, r)

    many = [r for r in m.R if r > 1]

    def reduced(n: int, per_byte: Fraction, off: Any) -> Any:
        inside = sum(per_byte * data.params[i] * in_stage(m, n, i) for i in m.L)
        return inside - per_byte * sum(data.params) * off

    @m.Constraint(m.N, many, doc="(7): AllReduce inside a machine")
    def ring_inside(m: Any, n: int, r: int) -> Any:
        # Of several rings across machines none is slower than this one inside.
        fastest = max(
            data.bandwidth.allreduce_intra * data.rings[r], data.bandwidth.allreduce_inter
        )
        return m.A[n] >= reduced(n, 2 * (r - 1) / (r * fastest), 1 - m.u[n, r])

    @m.Constraint(m.N, many, doc="(7): AllReduce across machines")
    def ring_across(m: Any, n: int, r: int) -> Any:
        per_byte = 2 * (r - 1) / (r * data.bandwidth.allreduce_inter)
        return m.A[n] >= reduced(n, per_byte, 2 - m.u[n, r] - m.pi[n])


def _add_link_times(m: pyo.ConcreteModel, data: Data) -> None:
    tau = data.latency
    inside, across = data.bandwidth.intra, data.bandwidth.inter

    def crossing(sizes: list[Fraction], n: int, bandwidth: Fraction) -> Any:
        cuts = sum(size / bandwidth * (m.z[n, i] - m.z[n, i + 1]) for i, size in enumerate(sizes))
        return cuts + tau * used(m, n + 1)

    for name, times, sizes in (("Cf", m.Cf, data.act), ("Cb", m.Cb, data.grad)):
        most = max([Fraction(0), *sizes]) / across
        m.add_component(
            f"link_inside_{name}",
            pyo.Constraint(
                m.C,
                rule=lambda _, n, t=times, d=sizes: t[n] >= crossing(d, n, inside),
                doc="(8): a transfer inside a machine",
            ),
        )
        m.add_component(
            f"link_across_{name}",
            pyo.Constraint(
                m.C,
                rule=lambda mm, n, t=times, d=sizes, top=most: (
                    t[n] >= crossing(d, n, across) - top * (1 - mm.chi[n])
                ),
                doc="(8): a transfer across machines",
            ),
        )


def decoded_plan(m: pyo.ConcreteModel, instance: DappleInstance) -> Plan:
    """Return the plan of the variables z and c; a stage takes the first free GPUs of a machine."""
    free = [list(gpus) for gpus in instance.cluster.machine_gpus]
    first = 0
    layers: list[tuple[int, int]] = []
    devices: list[tuple[int, ...]] = []
    for n in m.N:
        end = sum(pyo.value(m.z[n, i]) > 0.5 for i in m.L)
        if end > first:
            taken: list[int] = []
            for k in m.K:
                count = round(pyo.value(m.c[n, k]))
                taken += free[k][:count]
                free[k] = free[k][count:]
            layers.append((first, end))
            devices.append(tuple(taken))
        first = end
    return Plan(stage_layers=tuple(layers), stage_devices=tuple(devices))
