"""Instances and solutions: workers of different speeds, and their commits per check period."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, model_validator

from gadgetopt.numbers.exact import rationals
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.system.data import (
    Data,
    Instance,
    NonNegativeInt,
    NonNegativeSize,
    PositiveInt,
    PositiveSize,
    Solution,
)

from ..subproblems.workers import Worker

#: Workers times most commits: the size of tables.
MOST_ENTRIES = MOST_CELLS

Reading = Literal["step_time", "speed"]


class ErrorBound(Data):
    r"""Model B2: :math:`\psi = a / S + b (\theta - 1)`.

    Attributes
    ----------
    a : float
        :math:`2 \Delta F\, \Gamma / (\eta T)`, in steps.
    b : float
        :math:`\eta^2 L^2 \sigma^2`, per step.
    """

    kind: Literal["error_bound"] = "error_bound"
    a: PositiveSize
    b: NonNegativeSize


class TimeToAccuracy(Data):
    r"""Seconds until the error bound is met: :math:`T = a / (S (\epsilon_0 - b (\theta - 1)))`.

    Attributes
    ----------
    a : float
        :math:`2 \Delta F\, \Gamma / \eta`, in step-seconds times the unit of the error.
    b : float
        :math:`\eta^2 L^2 \sigma^2`, per step.
    error_budget : float
        :math:`\epsilon_0`, the error wanted less what no rate can avoid.
    """

    kind: Literal["time_to_accuracy"] = "time_to_accuracy"
    a: PositiveSize
    b: NonNegativeSize
    error_budget: PositiveSize


class MomentumCap(Data):
    r"""Model B1: as many steps as possible while the implicit momentum stays below a cap.

    Attributes
    ----------
    max_momentum : float
        :math:`\mu_{max}`.
    reading : "step_time" or "speed"
        What :math:`v_i` is in Theorem 1: the time of a step (R2: terms without a unit) or the speed
        (R1: terms in square seconds).
    scale : float
        :math:`\kappa`, by which terms are multiplied; 0.05 over the local steps in a period gives
        the published figure.
    """

    kind: Literal["momentum_cap"] = "momentum_cap"
    max_momentum: Annotated[float, Field(gt=0, lt=1)]
    reading: Reading = "step_time"
    scale: PositiveSize = 1.0


RateModel = ErrorBound | TimeToAccuracy | MomentumCap


class AdspRatesInstance(Instance):
    r"""Workers whose commits per check period are to be chosen.

    Attributes
    ----------
    workers : tuple of Worker
    check_period_s : float
        :math:`\Gamma`.
    max_commits : int
        N, the most commits of a worker in a period.
    fairness_window : int or None
        :math:`\varepsilon`: the most by which the commits of two workers differ; None is no limit,
        0 ADSP's rule of equal commits.
    commit_cap : int or None
        :math:`N_{cap}`, the most commits of all workers together: bandwidth times period over the
        bytes of the model.
    model : ErrorBound, TimeToAccuracy or MomentumCap
    """

    workers: Annotated[tuple[Worker, ...], Field(min_length=1)]
    check_period_s: PositiveSize = 60.0
    max_commits: Annotated[int, Field(gt=0, le=100_000)]
    fairness_window: NonNegativeInt | None = None
    commit_cap: PositiveInt | None = None
    model: Annotated[RateModel, Field(discriminator="kind")]

    @model_validator(mode="after")
    def _tables_are_not_huge(self) -> AdspRatesInstance:
        entries = len(self.workers) * self.max_commits
        if entries > MOST_ENTRIES:
            raise ValueError(
                f"max_commits: {self.max_commits} for each of {len(self.workers)} workers, "
                f"expected at most {MOST_ENTRIES} together"
            )
        return self

    @cached_property
    def most_commits(self) -> tuple[int, ...]:
        r"""The most commits of each worker: a step between two, :math:`n (t_i + O_i) \le \Gamma`.

        0 for a worker that cannot commit once in a period.
        """
        period = decimal_rational(self.check_period_s)
        known: list[int] = []
        for worker in self.workers:
            ratio = self.check_period_s / (worker.step_time_s + worker.comm_time_s)
            if ratio < 2 * self.max_commits and abs(ratio - round(ratio)) <= 1e-9 * ratio:
                # Where rounding might decide, in rationals.
                step, comm = rationals((worker.step_time_s, worker.comm_time_s))
                ratio = math.floor(period / (step + comm))
            known.append(math.floor(min(self.max_commits, ratio)))
        return tuple(known)

    @property
    def window(self) -> int:
        """The most by which the commits of two workers differ."""
        widest = self.max_commits - 1
        return widest if self.fairness_window is None else min(widest, self.fairness_window)

    @property
    def cap(self) -> int:
        """The most commits of all workers together."""
        widest = len(self.workers) * self.max_commits
        return widest if self.commit_cap is None else min(widest, self.commit_cap)

    @property
    def largest_equal_rate(self) -> int:
        """The most commits that every worker can make, whatever the cap."""
        return min(self.most_commits)

    @property
    def last_window_start(self) -> int:
        """The last number of fewest commits that has to be tried; 0 if there is none.

        A window that starts later and reaches the largest number of commits lies in this one.
        """
        latest = min(self.largest_equal_rate, self.cap // len(self.workers))
        return min(latest, max(1, self.max_commits - self.window))


class AdspRatesSolution(Solution):
    """Commits per check period of every worker."""

    commits_per_period: tuple[NonNegativeInt, ...]


def size(instance: AdspRatesInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    return {
        "workers": len(instance.workers),
        "distinct_workers": len(set(instance.workers)),
        "max_commits": instance.max_commits,
    }
