"""The times of a plan: a re-entrant job shop of M identical microbatches on 2S-1 machines.

Machine q = 2n is stage n with forward time f, backward time b and AllReduce time a; machine
q = 2n+1 is the channel after stage n with the two transfer times and a = 0. A microbatch passes the
machines 0..2S-2 forward and back. Every duration is a whole number of units, so that simulation and
bounds are exact and fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.exact import common_denominator
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.pipeline.communication import allreduce_factor, transfer_factor
from gadgetopt.pieces.pipeline.instance import PipelineInstance
from gadgetopt.pieces.pipeline.plan import Plan, most_in_flight


@dataclass(frozen=True)
class Shop:
    """Times of the interleaved machines of a plan.

    Attributes
    ----------
    fwd, bwd, allreduce : tuple of int
        f, b and a of machines q = 0..2S-2, in units; a is 0 on channels. Length 2S-1.
    num_microbatches : int
    full_duplex : bool
        True if a channel's two directions do not share it.
    max_in_flight : tuple of int
        Most microbatches in flight on each stage; M where nothing limits them. Length S.
    unit : Fraction
        Seconds of one unit.
    """

    fwd: tuple[int, ...]
    bwd: tuple[int, ...]
    allreduce: tuple[int, ...]
    num_microbatches: int
    full_duplex: bool
    max_in_flight: tuple[int, ...]
    unit: Fraction

    @property
    def num_machines(self) -> int:
        """Number of stages and channels, 2S-1."""
        return len(self.fwd)

    @property
    def num_stages(self) -> int:
        """Number of stages S."""
        return (len(self.fwd) + 1) // 2

    @property
    def loads(self) -> list[int]:
        """Busy units of each machine, AllReduce included; the longer direction of full duplex."""
        m = self.num_microbatches
        return [
            m * (max(f, b) if self.full_duplex and q % 2 else f + b) + a
            for q, (f, b, a) in enumerate(zip(self.fwd, self.bwd, self.allreduce, strict=True))
        ]

    @property
    def period(self) -> int:
        """C: the longest time of one microbatch on a machine, forward and backward."""
        return max(f + b for f, b in zip(self.fwd, self.bwd, strict=True))

    @property
    def memory_limited(self) -> bool:
        """True if a stage may not hold all microbatches."""
        return any(cap < self.num_microbatches for cap in self.max_in_flight)

    def seconds(self, amount: int) -> Fraction:
        """Return a number of units in seconds, exactly."""
        return amount * self.unit

    def in_seconds(self) -> tuple[Floats, Floats, Floats]:
        """Return f, b and a in seconds as floats. Shapes (2S-1,)."""
        times = (self.fwd, self.bwd, self.allreduce)
        f, b, a = (np.array([float(x * self.unit) for x in row]) for row in times)
        return f, b, a

    def coarser(self, most: int) -> Shop:
        """Return a shop whose times are rounded down so that its largest load is about `most`.

        All times are at most as long as here, so a lower bound on its makespans, times its `unit`,
        holds here.
        """
        divisor = max(1, -(-max(self.loads) // most))
        if divisor == 1:
            return self

        def down(times: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(x // divisor for x in times)

        return replace(
            self,
            fwd=down(self.fwd),
            bwd=down(self.bwd),
            allreduce=down(self.allreduce),
            unit=self.unit * divisor,
        )


def shop_of_times(
    fwd_s: Sequence[Fraction],
    bwd_s: Sequence[Fraction],
    allreduce_s: Sequence[Fraction],
    num_microbatches: int,
    *,
    full_duplex: bool = False,
    max_in_flight: Sequence[int] | None = None,
) -> Shop:
    """Return the shop of exact times in seconds of the interleaved machines.

    Parameters
    ----------
    fwd_s, bwd_s, allreduce_s : sequence of Fraction or int
        Times of machines q = 0..2S-2. Length 2S-1.
    num_microbatches : int
    full_duplex : bool
    max_in_flight : sequence of int, optional
        For each stage; by default nothing limits it.
    """
    # Making a `Fraction` of one costs more than all else here.
    rows = [
        [x if type(x) is Fraction else Fraction(x) for x in row]
        for row in (fwd_s, bwd_s, allreduce_s)
    ]
    denominator = common_denominator(x for row in rows for x in row)
    f, b, a = (tuple(int(x * denominator) for x in row) for row in rows)
    caps = max_in_flight or [num_microbatches] * ((len(f) + 1) // 2)
    return Shop(
        f,
        b,
        a,
        num_microbatches,
        full_duplex,
        tuple(min(cap, num_microbatches) for cap in caps),
        Fraction(1, denominator),
    )


def shop_of(instance: PipelineInstance, plan: Plan) -> Shop:
    """Return the shop of a plan that `plan_violations` finds nothing wrong with."""
    chain, full = instance.chain, instance.duplex == "full"
    latency = decimal_rational(instance.options.transfer_latency_s)
    f: list[Fraction] = []
    b: list[Fraction] = []
    a: list[Fraction] = []
    for n, ((first, end), devices) in enumerate(
        zip(plan.stage_layers, plan.stage_devices, strict=True)
    ):
        if n:
            factor = transfer_factor(instance, plan.stage_devices[n - 1], devices)
            f.append(chain.act_bytes[first - 1] * factor + latency)
            b.append(chain.grad_bytes[first - 1] * factor + latency)
            a.append(Fraction(0))
        forward, backward, reduce = stage_times(instance, first, end, devices)
        f.append(forward)
        b.append(backward)
        a.append(reduce)
    ranges = zip(plan.stage_layers, plan.replicas, strict=True)
    caps = [most_in_flight(instance, first, end, r) for (first, end), r in ranges]
    return shop_of_times(f, b, a, instance.num_microbatches, full_duplex=full, max_in_flight=caps)


def stage_times(
    instance: PipelineInstance,
    first: int,
    end: int,
    devices: Sequence[int],
    ring: Sequence[int] | None = None,
) -> tuple[Fraction, Fraction, Fraction]:
    """Return the forward, backward and AllReduce seconds of a stage.

    With speeds, a microbatch is split in proportion to them. With `overlap_allreduce` the third is
    what is left of AllReduce when the last backward ends. Gradients are exchanged by the GPUs of
    `ring`, by default those of the stage.
    """
    chain, options = instance.chain, instance.options
    speed = sum((instance.cluster.gpu_speeds[v] for v in devices), Fraction(0))
    forward = (chain.fwd_sum_s[end] - chain.fwd_sum_s[first]) / speed
    backward = (chain.bwd_sum_s[end] - chain.bwd_sum_s[first]) / speed
    factor = allreduce_factor(instance, devices if ring is None else ring)
    reduce = factor * (chain.param_sum_bytes[end] - chain.param_sum_bytes[first])
    if options.overlap_allreduce:
        reduce = max(
            factor * (chain.param_sum_bytes[k + 1] - chain.param_sum_bytes[first])
            - (chain.bwd_sum_s[k] - chain.bwd_sum_s[first]) / speed
            for k in range(first, end)
        )
    return forward, backward + forward if options.recompute else backward, reduce
