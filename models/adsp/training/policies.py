"""The policies as rules that a simulation asks: how many steps, and when to wait."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .reward import reward

if TYPE_CHECKING:
    from .instance import AdspTrainingInstance
    from .ticks import Ticks

#: By how much a loss has to rise over a period for ADSP to search again. By definition.
_RISE = 1.3


class Rule:
    """A policy in action; this one commits after every step and waits for nobody.

    Attributes
    ----------
    barrier : bool
        True if updates are applied once all workers have sent one.
    slack : int or None
        Commits by which a worker may be ahead.
    controlled : bool
        True if `control` wants to be called every half period.
    """

    barrier = False
    slack: int | None = None
    controlled = False

    def steps(self, worker: int) -> int:
        """Return the steps of a worker until its next commit."""
        return 1

    def control(self, k: int, loss: float, commits: list[int]) -> None:
        """Take note of loss and commits at the end of the k-th half period, first at time 0."""

    def notes(self) -> dict[str, object]:
        """Return what the policy found out."""
        return {}


class Barrier(Rule):
    """BSP and Fixed ADACOMM: a barrier after a fixed number of steps."""

    barrier = True

    def __init__(self, local_steps: int):
        self.local_steps = local_steps

    def steps(self, worker: int) -> int:
        """Return the steps until the next barrier."""
        return self.local_steps


class AdaptiveBarrier(Barrier):
    r"""ADACOMM: after each period :math:`\tau' = \sqrt{\ell / \ell_0}\, \tau_0`.

    If that is smaller, :math:`\tau = \lceil \tau' \rceil`, else :math:`\lceil \tau / 2 \rceil`.
    """

    local_steps: int
    first: int
    first_loss: float

    controlled = True

    def __init__(self, local_steps: int):
        super().__init__(local_steps)
        self.first, self.first_loss = local_steps, math.nan

    def control(self, k: int, loss: float, commits: list[int]) -> None:
        """Adapt the steps at the end of a period."""
        if k == 0:
            self.first_loss = loss
        elif k % 2 == 0:
            ratio = loss / self.first_loss if self.first_loss > 0 else 0.0
            wanted = math.sqrt(ratio) * self.first if math.isfinite(ratio) else math.inf
            halved = -(-self.local_steps // 2)
            self.local_steps = max(1, math.ceil(wanted) if wanted < self.local_steps else halved)

    def notes(self) -> dict[str, object]:
        """Return the first and the last number of steps."""
        return {"first_local_steps": self.first, "last_local_steps": self.local_steps}


class Slack(Rule):
    """SSP."""

    def __init__(self, slack: int):
        self.slack: int = slack


class Timers(Rule):
    r"""ADSP: every worker commits C times in a check period, by its own timer.

    The timer leaves :math:`\Gamma / \Delta C^i - O_i` seconds for steps, and the running step is
    finished. With catching up, :math:`\Delta C^i` is what was missing at the begin of the period to
    the total that all workers should have at its end, else C.
    """

    catch_up: bool
    ticks: Ticks
    rate: int
    target: int

    controlled = True

    def __init__(self, instance: AdspTrainingInstance, ticks: Ticks, rate: int):
        self.ticks, self.catch_up = ticks, instance.catch_up
        self.rate, self.target = rate, rate
        self.increments: list[int] = [rate] * len(instance.workers)
        self._known: dict[tuple[int, int], int] = {}

    def steps(self, worker: int) -> int:
        """Return the steps until the timer ends, the running one included."""
        increment = self.increments[worker]
        key = worker, increment
        if key not in self._known:
            t = self.ticks
            # ceil((max(interval, Gamma / increment - O) / t_i), and never less than one step.
            room = max(increment * t.interval, 2 * t.half_period - 2 * increment * t.half[worker])
            self._known[key] = max(1, -(-room // (increment * t.step[worker])))
        return self._known[key]

    def control(self, k: int, loss: float, commits: list[int]) -> None:
        """Raise the totals that all should have at the end of the next period."""
        if k > 0 and k % 2 == 0:
            self.begin_period(commits)

    def begin_period(self, commits: list[int]) -> None:
        """Set what each worker commits in the period to come."""
        self.target += self.rate
        for i, n in enumerate(commits):
            self.increments[i] = max(1, self.target - n) if self.catch_up else self.rate


class Search(Timers):
    """ADSP with the online search of Algorithm 1.

    Rates are evaluated a period each, from the current one upwards, until the reward falls; the
    best is kept until the epoch ends, or the loss rises by 30 % over a period.

    Attributes
    ----------
    evaluated : list of (int, float)
        Rates and their rewards, in order.
    """

    most: int
    target_loss: float
    rate: int
    searching: bool
    started: int

    def __init__(self, instance: AdspTrainingInstance, ticks: Ticks, target_loss: float, most: int):
        first = min(instance.initial_commits, most)
        super().__init__(instance, ticks, first)
        self.half_s: float = float(ticks.seconds(ticks.half_period))
        self.target_loss, self.most = target_loss, most
        self.epoch_periods: int = max(1, -(-ticks.epoch // (2 * ticks.half_period)))
        self.losses: list[float] = []
        self.searching, self.started = True, 0
        self.best: tuple[int, float] | None = None
        self.evaluated: list[tuple[int, float]] = []

    def control(self, k: int, loss: float, commits: list[int]) -> None:
        """Take the loss; at the end of a period reward its rate, or see whether to search."""
        self.losses.append(loss)
        if k == 0 or k % 2:
            return
        period = k // 2
        if self.searching:
            self._evaluated(k)
        else:
            rose = loss >= _RISE * self.losses[k - 2]
            if rose or period - self.started >= self.epoch_periods:
                # The period to come evaluates the rate that was used so far.
                self.searching, self.started, self.best = True, period, None
        self.begin_period(commits)

    def _evaluated(self, k: int) -> None:
        """Reward the rate of the period that ends, and go on climbing or settle."""
        three = (self.losses[k - 2], self.losses[k - 1], self.losses[k])
        value = reward((k - 2) * self.half_s, self.half_s, three, self.target_loss)
        self.evaluated.append((self.rate, value))
        if self.best is None or value > self.best[1]:
            self.best = self.rate, value
            if self.rate < self.most:
                self.rate += 1
                return
        self.rate, self.searching = self.best[0], False

    def notes(self) -> dict[str, object]:
        """Return how many rates were evaluated, which, and the last."""
        return {
            "evaluations": len(self.evaluated),
            "rates": [rate for rate, _ in self.evaluated],
            "last_rate": self.rate,
        }
