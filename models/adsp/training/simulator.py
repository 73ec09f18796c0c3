r"""The simulator: workers step, commit and wait; the model and its loss are real.

Events are, in this order where they are at the same tick: the arrival of a worker's update at the
parameter server (half of :math:`O_i` after the step that triggers it), the check of a half period,
and the arrival of the model at the worker (the other half). Workers at the same tick go by index.
Steps are no events of their own, as nothing can interrupt them: a worker's steps are made when
their update arrives.

An update is :math:`U_i = w_i^{start} - w_i`, what the steps took off the model that was pulled; the
server makes :math:`V \leftarrow \beta V - \eta U_i`, :math:`W \leftarrow W + V` with the explicit
momentum :math:`\beta`, 0 but for ADSP++. Under a barrier the updates are applied together, in the
order of workers, once the last has arrived. After each application the loss is taken.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Floats

from .instance import (
    Adacomm,
    Adsp,
    AdspTrainingInstance,
    Bsp,
    FixedAdacomm,
    Policy,
    Rate,
    Settled,
    Ssp,
)
from .policies import AdaptiveBarrier, Barrier, Rule, Search, Slack, Timers
from .tasks import BatchOrders, target_loss, task_of
from .ticks import Ticks

_ARRIVE, _CONTROL, _RECEIVE = range(3)

#: Applications between two questions whether to stop. Tuned: `benchmarks/constants.py`.
_ASKED = 64


@dataclass(frozen=True)
class Commit:
    """A commit: its worker, the tick at which its steps begin, their number, and arrival."""

    worker: int
    begin: int
    steps: int
    arrive: int


@dataclass
class Run:
    """What happened.

    Attributes
    ----------
    converged : bool
    ticks : int
        When training ended.
    losses : list of (int, float)
        Ticks and losses after each application.
    commits, steps, waited : list of int
        Of each worker; ticks that it waited.
    max_spread : int
        The most by which commits of two workers ever differed.
    events : int
        Steps, arrivals and controls.
    log : list of Commit
        In the order in which they were applied, if it was kept.
    applied : list of int
        How many commits of the log each application has.
    notes : dict
        What the policy found out.
    stopped : bool
        True if it was told to stop before anything was decided.
    """

    unit: int
    converged: bool = False
    ticks: int = 0
    losses: list[tuple[int, float]] = field(default_factory=list)
    commits: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    waited: list[int] = field(default_factory=list)
    max_spread: int = 0
    events: int = 0
    log: list[Commit] = field(default_factory=list)
    applied: list[int] = field(default_factory=list)
    notes: dict[str, object] = field(default_factory=dict)
    stopped: bool = False
    model: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def time_s(self) -> Fraction:
        """Seconds until training ended."""
        return Fraction(self.ticks, self.unit)


def simulate(
    instance: AdspTrainingInstance,
    policy: Policy,
    *,
    keep_log: bool = False,
    before: Fraction | None = None,
    over: Callable[[], bool] | None = None,
) -> Run:
    """Train under a policy until the loss has converged or the horizon is reached.

    Parameters
    ----------
    instance : AdspTrainingInstance
    policy : Policy
    keep_log : bool, default False
    before : Fraction, optional
        Seconds after which the outcome does not matter.
    over : callable, optional
        Asked now and then whether to stop.
    """
    horizon = Ticks.of(instance).horizon
    if before is not None:
        horizon = min(horizon, math.floor(before * Ticks.of(instance).per_second))
    rule = rule_of(instance, policy)
    momentum = policy.momentum if isinstance(policy, Rate) else 0.0
    factor = policy.lr_factor if isinstance(policy, Rate) else 1.0
    run = _Simulation(instance, rule, momentum, factor, keep_log).run(horizon, over)
    if not run.stopped:
        _simulated.note(instance, policy, run.time_s if run.converged else before or math.inf)
    return run


def converges_before(instance: AdspTrainingInstance, policy: Policy, time: Fraction) -> bool:
    """Return True if training under a policy has converged before a time.

    What this process has simulated of the instance already is not simulated again.
    """
    if _simulated.not_before(instance, policy) >= time:
        return False
    run = simulate(instance, policy, before=time)
    return run.converged and run.time_s < time


class _Simulated:
    """The times before which policies have not converged, of the last instance simulated."""

    def __init__(self) -> None:
        self._instance: AdspTrainingInstance | None = None
        self._times: dict[Policy, Fraction | float] = {}

    def note(
        self, instance: AdspTrainingInstance, policy: Policy, not_before: Fraction | float
    ) -> None:
        """Keep what a simulation that was not cut short has shown."""
        if self._instance is not instance:
            self._instance, self._times = instance, {}
        self._times[policy] = max(not_before, self._times.get(policy, 0))

    def not_before(self, instance: AdspTrainingInstance, policy: Policy) -> Fraction | float:
        """Return a time before which a policy has not converged; 0 if nothing is known."""
        return self._times.get(policy, 0) if self._instance is instance else 0


_simulated = _Simulated()


def rule_of(instance: AdspTrainingInstance, policy: Policy) -> Rule:
    """Return a policy as a rule."""
    ticks = Ticks.of(instance)
    if isinstance(policy, Rate):
        return Timers(instance, ticks, policy.commits)
    if isinstance(policy, Adsp):
        return Search(instance, ticks, target_loss(instance), instance.choices.max_commits)
    if isinstance(policy, Bsp):
        return Barrier(1)
    if isinstance(policy, FixedAdacomm):
        return Barrier(policy.local_steps)
    if isinstance(policy, Ssp):
        return Slack(policy.slack)
    assert isinstance(policy, Adacomm), "there is no other policy"
    return AdaptiveBarrier(first_local_steps(instance))


def first_local_steps(instance: AdspTrainingInstance) -> int:
    """Return ADACOMM's first number of local steps: of those offered, the best after one period.

    Each is tried from the same start, and the trials take no time (reconstructed).
    """
    if not instance.choices.local_steps:
        return 1
    ticks = Ticks.of(instance)
    period = min(ticks.horizon, 2 * ticks.half_period)
    tried = replace_convergence(instance)
    losses = {}
    for tau in instance.choices.local_steps:
        run = _Simulation(tried, Barrier(tau), 0.0, 1.0, False).run(period, None)
        last = run.losses[-1][1] if run.losses else math.inf
        losses[tau] = last if math.isfinite(last) else math.inf
    return min(losses, key=lambda tau: (losses[tau], tau))


def replace_convergence(instance: AdspTrainingInstance) -> AdspTrainingInstance:
    """Return the instance with a target that is never met."""
    return instance.model_copy(update={"target_loss": 0.0, "target_factor": None})


class _Simulation:
    """A simulation that runs once."""

    def __init__(
        self,
        instance: AdspTrainingInstance,
        rule: Rule,
        momentum: float,
        factor: float,
        keep_log: bool,
    ):
        self.instance, self.rule, self.keep_log = instance, rule, keep_log
        self.ticks, self.task = Ticks.of(instance), task_of(instance)
        m = len(instance.workers)
        self.momentum = momentum
        self.lr = factor * (1 / m if instance.global_lr is None else instance.global_lr)
        self.target = target_loss(instance)
        self.orders = BatchOrders(instance, self.task.batches)
        self.W = self.task.start.copy()
        self.velocity = np.zeros_like(self.W)
        self.pulled = [self.W] * m
        self.begin, self.planned, self.idle_since = [0] * m, [0] * m, [0] * m
        self.blocked: set[int] = set()
        self.waiting: list[int] = []
        self.recent: deque[float] = deque(maxlen=instance.evaluations)
        self.heap: list[tuple[int, int, int]] = []
        self.made = Run(self.ticks.per_second, commits=[0] * m, steps=[0] * m, waited=[0] * m)

    def run(self, horizon: int, over: Callable[[], bool] | None) -> Run:
        """Run until convergence or a tick."""
        made, rule, heap = self.made, self.rule, self.heap
        if rule.controlled:
            rule.control(0, self.task.loss(self.W), made.commits)
            heapq.heappush(heap, (self.ticks.half_period, _CONTROL, 1))
        for i in range(len(self.begin)):
            self._start(i, 0)
        applications = 0
        while heap and not made.converged:
            tick, kind, i = heapq.heappop(heap)
            if tick > horizon:
                made.ticks = horizon
                break
            made.ticks = tick
            made.events += 1
            if kind == _CONTROL:
                rule.control(i, self.task.loss(self.W), made.commits)
                heapq.heappush(heap, (tick + self.ticks.half_period, _CONTROL, i + 1))
            elif kind == _RECEIVE:
                self._start(i, tick)
            else:
                self._arrive(i, tick)
                applications += 1
                if over is not None and not applications % _ASKED and over():
                    made.stopped = True
                    break
        made.model, made.notes = self.W, rule.notes()
        made.max_spread = max(made.max_spread, max(made.commits) - min(made.commits))
        return made

    def _start(self, i: int, tick: int) -> None:
        """Begin the steps of a worker that has the model, or block it."""
        rule, made = self.rule, self.made
        if rule.slack is not None and made.commits[i] - min(made.commits) > rule.slack:
            self.blocked.add(i)
            self.idle_since[i] = tick
            return
        steps = rule.steps(i)
        self.begin[i], self.planned[i] = tick, steps
        arrive = tick + steps * self.ticks.step[i] + self.ticks.half[i]
        heapq.heappush(self.heap, (arrive, _ARRIVE, i))

    def _arrive(self, i: int, tick: int) -> None:
        """Make the steps of a worker whose update arrives, and apply it or keep it."""
        made, steps = self.made, self.planned[i]
        w = self.pulled[i].copy()
        self.task.train(i, w, self.orders.take(i, steps))
        made.steps[i] += steps
        made.commits[i] += 1
        made.events += steps
        if self.keep_log:
            made.log.append(Commit(i, self.begin[i], steps, tick))
        if self.rule.barrier:
            self.pulled[i], self.idle_since[i] = w - self.pulled[i], tick
            self.waiting.append(i)
            if len(self.waiting) == len(self.begin):
                self._release(tick)
            return
        self._apply(w - self.pulled[i])
        self._record(tick, 1)
        self.pulled[i] = self.W
        heapq.heappush(self.heap, (tick + self.ticks.half[i], _RECEIVE, i))
        if self.rule.slack is not None:
            self._unblock(tick)
        if not len(made.losses) % 16:
            made.max_spread = max(made.max_spread, max(made.commits) - min(made.commits))

    def _release(self, tick: int) -> None:
        """Apply the updates of all workers and send them the model."""
        change = self.pulled[0]
        for other in self.pulled[1:]:
            change = change + other
        self._apply(change)
        self._record(tick, len(self.waiting))
        self.waiting = []
        for i in range(len(self.begin)):
            self.made.waited[i] += tick - self.idle_since[i]
            self.pulled[i] = self.W
            heapq.heappush(self.heap, (tick + self.ticks.half[i], _RECEIVE, i))

    def _unblock(self, tick: int) -> None:
        """Let workers go that are no longer too far ahead."""
        least, slack = min(self.made.commits), self.rule.slack
        assert slack is not None, "only SSP blocks"
        for i in sorted(self.blocked):
            if self.made.commits[i] - least <= slack:
                self.blocked.discard(i)
                self.made.waited[i] += tick - self.idle_since[i]
                self._start(i, tick)

    def _apply(self, change: Floats) -> None:
        """Apply an update, the change of the model with the sign of a step."""
        if self.momentum:
            self.velocity = self.momentum * self.velocity + self.lr * change
            self.W = self.W + self.velocity
        else:
            self.W = self.W + self.lr * change

    def _record(self, tick: int, commits: int) -> None:
        """Take the loss, and find out whether training has converged."""
        loss = self.task.loss(self.W)
        self.made.losses.append((tick, loss))
        if self.keep_log:
            self.made.applied.append(commits)
        self.recent.append(loss)
        if loss <= self.target:
            self.made.converged = converged(self.instance, self.target, list(self.recent))


def converged(instance: AdspTrainingInstance, target: float, recent: list[float]) -> bool:
    """Return True if the last losses, as many as the instance asks for, show convergence."""
    if recent[-1] > target or len(recent) < instance.evaluations:
        return False
    if not max(recent) <= target:
        return False
    if isinstance(instance.convergence, Settled):
        return float(np.var(recent)) < instance.convergence.variance
    return True
