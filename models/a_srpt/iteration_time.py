r"""Per-iteration time of a mapping, in whole units of a fraction of a second.

With :math:`x_{s,m}` replicas of stage s on server m (reconstructed, (1)-(3) of the page),

.. math::

    \theta_{s,m}(x) &= p_s + \sum_{u \in \{s-1, s+1\}} \frac{A_{s,u}}{k_s}
        \Big[\frac{x_{u,m}}{k_u} \frac{1}{B^{in}} + \Big(1 - \frac{x_{u,m}}{k_u}\Big) \frac1b\Big],
    \\
    \varphi_s(x) &= 2 \frac{k_s - 1}{k_s} h_s \cdot
        (1/B^{in} \text{ if stage s is whole on one server, else } 1/b),
    \\
    \alpha(x) &= \phi \max_{s,m: x_{s,m} > 0} \theta_{s,m}(x) + \max_s \varphi_s(x).

The first is :math:`F_s` less a saving for every replica of a neighbouring stage on the same server.
All of these numbers are multiples of 1 / `units_per_s`, so that searches compare integers.

A replica of stage s that is a block of :math:`t_s` GPUs of one server (tensor parallelism) computes
and sends for :math:`p_s + V_s / B^{in}`, where :math:`V_s` is what a GPU of the block sends to the
others; of its activations and gradients every GPU sends :math:`1 / t_s` (scatter and gather).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .instance import JobType

#: Replicas of each stage by server: pairs (server, replicas), for servers that hold any.
Placement = Sequence[Sequence[tuple[int, int]]]


@dataclass(frozen=True)
class MappingTimes:
    r"""Times of one job type on one cluster, in units of 1 / `units_per_s` seconds.

    Attributes
    ----------
    replicas : tuple of int
        :math:`k_s`.
    sizes : tuple of int
        Room that a replica of each stage takes, in units of the greatest common divisor of the
        :math:`t_s`: all 1 if these are the same.
    units_per_s : int
    alone : tuple of int
        :math:`\phi F_s`: compute and transfers of a replica with no neighbour on its server.
    saved_left, saved_right : tuple of int
        What each replica of stage s - 1, s + 1 on the same server takes off, times :math:`\phi`.
    ring_split, ring_whole : tuple of int
        :math:`\varphi_s` of a stage on several servers, and on one.
    """

    replicas: tuple[int, ...]
    sizes: tuple[int, ...]
    units_per_s: int
    alone: tuple[int, ...]
    saved_left: tuple[int, ...]
    saved_right: tuple[int, ...]
    ring_split: tuple[int, ...]
    ring_whole: tuple[int, ...]

    @property
    def room(self) -> int:
        """Room that all replicas take."""
        return sum(size * k for size, k in zip(self.sizes, self.replicas, strict=True))

    @property
    def longest(self) -> int:
        r"""Units of :math:`\alpha^{max}`: every replica alone on a server."""
        return max(self.alone) + max(self.ring_split)

    @property
    def together(self) -> int:
        """Units of the mapping that has all replicas on one server."""
        return max(self.stage_together) + max(self.ring_whole)

    @property
    def stage_together(self) -> tuple[int, ...]:
        r""":math:`\phi \underline F_s`: all replicas of the neighbouring stages on the server."""
        k = (0, *self.replicas, 0)
        return tuple(
            alone - left * k[s] - right * k[s + 2]
            for s, (alone, left, right) in enumerate(
                zip(self.alone, self.saved_left, self.saved_right, strict=True)
            )
        )

    def units(self, placement: Placement) -> int:
        """Return the per-iteration time of a complete mapping."""
        last = len(placement) - 1
        on = [dict(pairs) for pairs in placement]
        slowest = ring = 0
        for s, pairs in enumerate(placement):
            left = on[s - 1] if s else {}
            right = on[s + 1] if s < last else {}
            alone, of_left, of_right = self.alone[s], self.saved_left[s], self.saved_right[s]
            for m, _ in pairs:
                stage = alone - of_left * left.get(m, 0) - of_right * right.get(m, 0)
                slowest = max(slowest, stage)
            ring = max(ring, self.ring_whole[s] if len(pairs) == 1 else self.ring_split[s])
        return slowest + ring

    def seconds(self, units: int) -> Fraction:
        """Return units as seconds."""
        return Fraction(units, self.units_per_s)

    def ticks(self, units: int, iterations: int, tick_s: Fraction) -> int:
        r"""Return the duration :math:`\max(1, \lceil n \alpha / \Delta \rceil)`."""
        return max(
            1,
            -(-iterations * units * tick_s.denominator // (self.units_per_s * tick_s.numerator)),
        )


def mapping_times(job_type: JobType, intra: Fraction, inter: Fraction) -> MappingTimes:
    """Return the table of a job type.

    Parameters
    ----------
    job_type : JobType
    intra, inter : Fraction
        GB/s per GPU within a server and between servers.
    """
    k, factor, t = job_type.replicas, job_type.pipeline_factor, job_type.block_of_stage
    gap = 1 / inter - 1 / intra
    last = len(k) - 1
    activations = (Fraction(0), *job_type.activation_gbytes, Fraction(0))
    in_block = job_type.tp_gbytes or (Fraction(0),) * len(k)
    alone, left, right, split, whole = [], [], [], [], []
    for s, replicas in enumerate(k):
        before, after = activations[s] / t[s], activations[s + 1] / t[s]
        busy = job_type.stage_time_s[s] + in_block[s] / intra
        alone.append(factor * (busy + (before + after) / (replicas * inter)))
        left.append(factor * before * gap / (replicas * k[s - 1]) if s else Fraction(0))
        right.append(factor * after * gap / (replicas * k[s + 1]) if s < last else Fraction(0))
        volume = 2 * Fraction(replicas - 1, replicas) * job_type.gradient_gbytes[s] / t[s]
        split.append(volume / inter)
        whole.append(volume / intra)
    unit = math.lcm(*(x.denominator for xs in (alone, left, right, split, whole) for x in xs))

    def scaled(numbers: list[Fraction]) -> tuple[int, ...]:
        return tuple(x.numerator * (unit // x.denominator) for x in numbers)

    sizes = tuple(block // math.gcd(*t) for block in t)
    return MappingTimes(k, sizes, unit, *map(scaled, (alone, left, right, split, whole)))
