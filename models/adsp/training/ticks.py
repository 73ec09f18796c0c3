"""Times in whole ticks, so that events at the same time are at the same time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.numbers.exact import rationals

from .instance import AdspTrainingInstance


@dataclass(frozen=True)
class Ticks:
    """All times of an instance in ticks.

    Attributes
    ----------
    per_second : int
    step, half : tuple of int
        A step of each worker, and half of its commit: there, and back.
    half_period, interval, epoch, horizon : int
        Half a check period, the least interval of a timer, the epoch, and the horizon.
    """

    per_second: int
    step: tuple[int, ...]
    half: tuple[int, ...]
    half_period: int
    interval: int
    epoch: int
    horizon: int

    @classmethod
    def of(cls, instance: AdspTrainingInstance) -> Ticks:
        """Return the ticks of an instance, the coarsest in which all times are whole."""
        steps = rationals(worker.step_time_s for worker in instance.workers)
        halves = [x / 2 for x in rationals(w.comm_time_s for w in instance.workers)]
        period, interval, epoch, horizon = rationals(
            (
                instance.check_period_s,
                instance.min_interval_s,
                instance.epoch_s,
                instance.horizon_s,
            )
        )
        others = (period / 2, interval, epoch, horizon)
        unit = math.lcm(*(x.denominator for x in (*steps, *halves, *others)))
        whole = [int(x * unit) for x in (*steps, *halves, *others)]
        m = len(steps)
        return cls(unit, tuple(whole[:m]), tuple(whole[m : 2 * m]), *whole[2 * m :])

    def seconds(self, ticks: int) -> Fraction:
        """Return ticks as seconds."""
        return Fraction(ticks, self.per_second)
