"""CP-W asked again and again: the least M within which a schedule ends, as far as contention lets.

A rung of the ladder, ours (reconstructed). At M, the bound so far, two questions are open: whether
the relaxation of CP-W (`within_model.py`) has a schedule within M slots, and whether the
restriction has one. A "no" of the relaxation raises the bound by a slot, and a "yes" of the
restriction is optimal. If the relaxation says yes and the restriction no, contention decides, and
another method has to go on.

Each question goes to CP-SAT in several ways, one after the other, with a limit that doubles from
round to round: how long a way takes is a matter of luck, and where one takes minutes another one
often takes a second. The limits count CP-SAT's work, not time, so that the answers are the same on
every machine while there is time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp
from gadgetopt.system.result import Status

from ...formulations.cp import simulated
from ...instance import SjfBcoInstance, SjfBcoSolution
from .within_model import WithinModel

#: CP-SAT's deterministic seconds of a call in the first round. Tuned: `benchmarks/constants.py`.
FIRST_S = 0.5
#: Ways to ask: CP-SAT's linearization level, and whether what is redundant is added.
#: Tuned: `benchmarks/constants.py`.
WAYS = ((2, False), (0, True), (0, False), (2, True))


@dataclass
class Within:
    """The questions at the bound of a search, asked in rounds.

    Attributes
    ----------
    rounds : int
        Rounds that are over: each is twice as long as the one before.
    contended : int
        M at which both questions are answered, and contention decides; 0 if there was none.
    calls : int
        Calls of CP-SAT.
    versions : dict
        Versions of the solver.
    """

    instance: SjfBcoInstance
    rng: np.random.Generator
    rounds: int = 0
    contended: int = 0
    calls: int = 0
    versions: dict[str, str] = field(default_factory=dict)
    #: Answers at M, by whether spread jobs may share: True for "yes".
    _answers: dict[bool, bool] = field(default_factory=dict)
    _makespan: int = -1

    def close(self, search: Search[SjfBcoSolution], rounds: int) -> None:
        """Ask until the search is over, contention decides, or so many rounds more are over.

        Raises
        ------
        ModelRefused
            If there are too many pairs of jobs and servers.
        """
        for _ in range(rounds):
            while self._raises(search):
                pass
            if self._is_over(search):
                return
            self.rounds += 1

    def _raises(self, search: Search[SjfBcoSolution]) -> bool:
        """Ask in every way until the bound rises; return True if it does."""
        for linear, more in WAYS:
            for shared in (True, False):
                if self._is_over(search):
                    return False
                if shared not in self._answers:
                    self._ask(search, linear, more, shared)
                    if search.bound > self._makespan:
                        return True
        return False

    def _is_over(self, search: Search[SjfBcoSolution]) -> bool:
        if int(search.bound) != self._makespan:
            self._makespan = int(search.bound)
            self._answers = {}
        if search.over or self._makespan > self.instance.horizon_slots:
            return True
        if self._answers == {True: True, False: False}:
            self.contended = self._makespan
            return True
        return False

    def _ask(self, search: Search[SjfBcoSolution], linear: int, more: bool, shared: bool) -> None:
        """Ask one question in one way."""
        model = WithinModel(self.instance, self._makespan)
        if more:
            model.gangs_fit_the_cluster()
            model.exchangeable_jobs_and_servers_are_ordered()
        if not shared:
            model.spread_jobs_never_slow_down()
        work_s = FIRST_S * 2**self.rounds
        limits, seed = search.clock.limits(), seed_of(self.rng)
        outcome = solve_cp(model.model, limits, seed, linear, work_s)
        self.calls += 1
        self.versions.update(outcome.versions)
        if outcome.limit_hit == "interrupted":
            search.limit_hit = outcome.limit_hit
        if outcome.values is not None:
            self._answers[shared] = True
            found = simulated(self.instance, model.decode(outcome.values))
            if found:
                search.offer(*found)
        elif outcome.status is Status.INFEASIBLE:
            self._answers[shared] = False
            if shared:
                search.prove(self._makespan + 1)

    @property
    def notes(self) -> dict[str, Any]:
        """What was done."""
        return {"calls": self.calls, "rounds": self.rounds, "contended": self.contended}
