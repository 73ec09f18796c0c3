r"""The head-load-tail bound on the makespan of a plan, and the machine that attains it.

Machine q of a shop cannot start before $\sum_{i<q} f_i$; then it has work $M (f_q + b_q)$, which
ends with a backward block; after it that microbatch passes $b_{q-1}, \dots, b_s$, and stage s can
start its AllReduce. So every makespan is at least

.. math:: \max_q \Big\{ \sum_{i<q} f_i + M (f_q + b_q)
  + \max_{s \le q,\ s\ \text{even}} \Big( \sum_{i=s}^{q-1} b_i + a_s \Big) \Big\}.

On a channel of full duplex each direction is a machine. Forward: M blocks $f_q$, then the last
microbatch runs to the end of the pipeline and back. Backward: the first microbatch runs to the end
and back to q, then M blocks $b_q$.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from gadgetopt.pieces.pipeline.shop import Shop


@dataclass(frozen=True)
class HeadLoadTail:
    """A lower bound on the makespan, in units of the shop.

    Attributes
    ----------
    machine : int
        q, the critical machine.
    direction : "both", "forward" or "backward"
        Which of its blocks are the load.
    head, load, tail : int
        Their sum is the bound.
    last_stage : int
        The stage n whose AllReduce ends the tail.
    unit : Fraction
        Seconds of one unit.
    """

    machine: int
    direction: Literal["both", "forward", "backward"]
    head: int
    load: int
    tail: int
    last_stage: int
    unit: Fraction

    @property
    def value(self) -> int:
        """The bound in units."""
        return self.head + self.load + self.tail

    @property
    def value_s(self) -> Fraction:
        """The bound in seconds, exactly."""
        return self.value * self.unit


def machine_bounds(shop: Shop) -> Iterator[HeadLoadTail]:
    """Yield the bound of every machine; of both directions of a channel of full duplex."""
    f, b, count = shop.fwd, shop.bwd, shop.num_microbatches
    onwards = sum(f) + sum(b)
    head, tail, last_stage = 0, 0, 0
    for q in range(shop.num_machines):
        onwards -= f[q] + b[q]
        if q % 2 == 0 and shop.allreduce[q] > tail:
            tail, last_stage = shop.allreduce[q], q // 2
        if not (shop.full_duplex and q % 2):
            yield HeadLoadTail(q, "both", head, count * (f[q] + b[q]), tail, last_stage, shop.unit)
        else:
            rest = onwards + b[q] + tail
            yield HeadLoadTail(q, "forward", head, count * f[q], rest, last_stage, shop.unit)
            first = head + f[q] + onwards
            yield HeadLoadTail(q, "backward", first, count * b[q], tail, last_stage, shop.unit)
        head += f[q]
        tail += b[q]


def head_load_tail(shop: Shop) -> HeadLoadTail:
    """Return the largest bound; the first machine that attains it."""
    return max(machine_bounds(shop), key=lambda bound: bound.value)
