r"""Branch and check: a master without machines, and machines checked slot by slot.

Utility depends on completion slots alone, and machines matter within single slots alone. Hence
three levels, each of which returns cuts to the one above (reconstructed):

1. *Master.* `aggregated` with integer completion slots, the rest fractional: the bound, and
   deadlines of the jobs to accept. It closes in seconds where all integer variables take minutes.
2. *Schedule.* With these deadlines, modes and then workers in integers, at the lowest peak use of a
   slot (smoothing: utility does not change, packing becomes easier). If there is none, a minimal
   set of jobs whose deadlines cannot be met together is cut off in the master, and with it all
   earlier deadlines of these jobs.
3. *Slots.* Each packs onto machines (`slot_checks`), or yields a cut, which is valid in every slot:
   from patterns of one machine (`machine_patterns`), else a minimal conflict. Slots that stay
   undecided within their time get some reserve in the next schedule.

Deadlines that stay undecided within their time are postponed, and the bound keeps the value that
the master gave them. Once nothing else is left they are tried again, for longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.numbers.tolerance import CLOSED_GAP
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.dual_bounds import rounded_number
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...algorithms.pd_ors import decide
from ...formulations.aggregated import useful_jobs
from ...instance import (
    PdOrsInstance,
    PdOrsSolution,
)
from ...subproblems.decoding import solution
from ...subproblems.prices import price_range
from ..bounds.alone import alone
from ..certificate.check import (
    PdOrsCertificate,
    certificate_of,
    check_bound,
)
from .aggregated_mip import (
    COMPLETIONS,
    MODES,
    AggregatedMip,
    Deadlines,
    utility_of,
)
from .deadline_schedules import (
    DeadlineSchedules,
    Decisions,
)
from .job_placement import Placing
from .master_proof import (
    NoGood,
    proof_of_master,
)
from .priced_search import (
    PricedSearch,
    Prices,
    chosen,
    relaxation_prices,
)
from .repacking_search import (
    RepackingSearch,
    worth_searching,
)

#: Ways to find decisions at the prices of the column relaxation.
Way = Literal["repacking", "choice"]

#: Seconds for a proof that deadlines cannot be met, and their growth when they are looked at again.
#: Tuned: `benchmarks/constants.py`.
PROVE_S = 5.0
LONGER = 4.0
#: Refutations of the modes alone, after which the master has integer modes too.
#: Tuned: `benchmarks/constants.py`.
REFUTATIONS = 2
#: Choices of modes tried for the same deadlines. Tuned: `benchmarks/constants.py`.
ATTEMPTS = 2
#: Relative improvement that is asked of a new decision. Tuned: `benchmarks/constants.py`.
IMPROVEMENT = 1e-7
#: Ranges of prices at which PD-ORS looks for a first decision, and its time.
PRICE_SPANS = (10.0, 20.0, None)
#: Seconds of PD-ORS, and their part of the time left. Tuned: `benchmarks/constants.py`.
ONLINE_S = 10.0
ONLINE_PART = 0.1
#: Parts of the time left for prices of the column relaxation, for repacking, and for repacking
#: again, after a master that was stopped or whose deadlines are not met; its rounds, first few, so
#: that the master has the time. Tuned: `benchmarks/constants.py`.
PRICES_PART = 0.25
REPACKING_PART, REPACKING_AGAIN_PART = 0.3, 0.6
REPACKING_ROUNDS, REPACKING_AGAIN_ROUNDS = 8_000, 24_000
#: The same for a choice of columns and for placing jobs at the prices, without repacking.
#: Tuned: `benchmarks/constants.py`.
CHOICE_PART = 0.6
PLACING_PART = 0.15
PLACING_ROUNDS = 30
#: Seconds, beside those of the search, that the search for prices that prove its bound may take;
#: these seconds, or a part of those of the search, are for a tree.
#: Tuned: `benchmarks/constants.py`.
FIRST_PROOF_S = 1.0
PROOF_PART = 0.25
#: Part of every slot that is left free in the first search for a decision, and its growth.
#: Tuned: `benchmarks/constants.py`.
FIRST_RESERVE = 0.03
GROWTH = 3.0
#: Part of the time left that the first master may take, each after it, the same where repacking
#: finds the decisions, and one with a reserve. Tuned: `benchmarks/constants.py`.
FIRST_PART = 0.05
MASTER_PART, SOLE_MASTER_PART = 0.4, 0.75
RESERVED_PART = 0.2


@method(
    kind="exact",
    reference="aggregated relaxation, slot checks (reconstructed)",
    formulation="aggregated",
    backend="highs",
)
def branch_and_check(
    instance: PdOrsInstance,
    limits: Limits,
    *,
    placing: Way = "repacking",
) -> MethodOutcome:
    """Completion slots without machines, then slots packed one by one, with cuts.

    Return an optimal decision, or the best one found and a bound.

    Parameters
    ----------
    placing : "repacking" or "choice"
        How decisions are found at the prices of the column relaxation: by `repacking_search`, or as
        an integer choice of its columns with a few rounds of `priced_search`.
    """
    rng = fixed_rng()
    if not useful_jobs(instance):
        nothing = alone(instance)
        nothing.solution = solution(instance, {})
        return nothing
    search = _Search(instance, limits, rng, placing)
    search.run()
    search.certify()
    return search.outcome()


class _Search:
    """Search state: incumbent, bound, and the deadlines that are undecided."""

    def __init__(
        self, instance: PdOrsInstance, limits: Limits, rng: np.random.Generator, placing: Way
    ):
        self._instance, self._rng = instance, rng
        self._repacks = placing == "repacking" and COMPILED and worth_searching(instance)
        self._seed = seed_of(rng)
        self._now: Decisions = Search("max", limits, gap=IMPROVEMENT)
        self._clock = self._now.clock
        self._offer(solution(instance, {}))
        with self._clock.phase("build"):
            self._mip = AggregatedMip(instance)
        self._now.prove(sum(float(job.utility.max()) for job in self._mip.jobs.values()))
        self._schedules = DeadlineSchedules(instance, self._mip, self._now, self._seed)
        #: Prices of the column relaxation, where slots are packed again at them.
        self._prices: Prices | None = None
        self._certificate: PdOrsCertificate | None = None
        self._certified = np.inf
        #: Postponed deadlines, and an upper bound on the utility of each and of earlier ones.
        self._passed: list[Deadlines] = []
        self._passed_over = 0.0
        self._prove_s = PROVE_S
        self._promised = float(self._now.bound)
        self._master_closed = False
        self._repacked_again = False
        #: True if nothing better is left in the master, but perhaps among postponed deadlines.
        self._exhausted = False
        self._too_little, self._next_reserve, self._enough = 0.0, FIRST_RESERVE, 0.0
        self._last_master_s = 0.0
        self._counts = {"masters": 0, "passed_over": 0}

    def run(self) -> None:
        """Search until the bound is met, time is up, or Ctrl-C."""
        with self._now.interruptible():
            self._online()
            self._levels()

    def _levels(self) -> None:
        level: Sequence[str] = COMPLETIONS
        refuted = 0
        while not self._now.over:
            if self._certificate is None:
                deadlines = self._master(level, FIRST_PART)
                if not self._exhausted and not self._master_closed:
                    self._place_at_prices()
                    continue
            else:
                part = SOLE_MASTER_PART if self._repacks else MASTER_PART
                deadlines = self._master(level, part) or self._master(level, 1.0)
            if deadlines is None:
                if not self._look_again():
                    return
                continue
            if not self._master_closed:
                self._repack(REPACKING_AGAIN_PART, REPACKING_AGAIN_ROUNDS)
            verdict = self._schedules.find(deadlines, ATTEMPTS, self._prove_s)
            if verdict.solution is None and self._master_closed and not self._repacked_again:
                self._repacked_again = True
                self._repack(REPACKING_AGAIN_PART, REPACKING_AGAIN_ROUNDS)
            if verdict.solution is not None:
                self._offer(verdict.solution)
            elif verdict.refuted_by is not None:
                core = self._schedules.core(deadlines, verdict.refuted_by, self._last_master_s)
                self._mip.no_goods.append(core)
                # A master whose relaxation is refuted again and again is too weak.
                refuted += verdict.refuted_by == MODES
                level = MODES if refuted >= REFUTATIONS else level
            else:
                self._pass_over(deadlines)
            if self._certificate is None and not self._now.over:
                self._place_at_prices()
            self._reserve()

    def certify(self) -> None:
        """Look for a proof of the bound of a search that the master has closed."""
        if not self._now.closed or self._now.certificate is not None:
            return
        with self._now.interruptible():
            if self._certificate is None:
                self._prove_by_prices()
            if self._now.certificate is None:
                self._prove_by_tree()

    def _prove_by_prices(self) -> None:
        begin_s = self._clock.elapsed_s
        with self._clock.phase("prices"):
            limits = self._clock.limits(at_most_s=FIRST_PROOF_S + begin_s)
            prices = relaxation_prices(self._instance, limits)
            certificate = certificate_of(self._instance, prices.price)
            proved = check_bound(self._instance, certificate)
        if proved <= float(self._now.value) * (1 + CLOSED_GAP):
            self._now.certificate = certificate

    def _prove_by_tree(self) -> None:
        if rounded_number(self._instance) is not None:
            return
        refuted = [
            NoGood(tuple(self._mip.no_good(deadlines)), len(deadlines))
            for deadlines in self._mip.no_goods
            if deadlines not in self._passed
        ]
        with self._clock.phase("proof"):
            seconds = max(FIRST_PROOF_S, PROOF_PART * self._clock.elapsed_s)
            clock = Clock(self._clock.limits(at_most_s=seconds))
            value = float(self._now.value)
            proof = proof_of_master(self._mip.form, refuted, value, lambda: clock.left_s)
        if proof is not None:
            self._now.certificate = proof

    def _place_at_prices(self) -> None:
        """Take the bound of the column relaxation, and place jobs at its prices."""
        with self._clock.phase("prices"):
            prices = relaxation_prices(self._instance, self._clock.limits(part=PRICES_PART))
            self._certificate = certificate_of(self._instance, prices.price)
            self._certified = check_bound(self._instance, self._certificate)
        self._passed_over = min(self._passed_over, self._certified)
        self._lower(self._certified, self._certificate)
        if prices.interrupted:
            raise KeyboardInterrupt
        with self._clock.phase("placing"):
            self._schedules.price = prices.price
            if self._repacks:
                self._prices = prices
                self._repack(REPACKING_PART, REPACKING_ROUNDS)
            else:
                self._choose(prices)

    def _repack(self, part: float, rounds: int) -> None:
        """Improve the incumbent by ruin and recreate with slots packed again."""
        if self._prices is None or self._now.over:
            return
        with self._clock.phase("repacking"):
            search = RepackingSearch(self._instance, self._prices, self._rng)
            limits = self._clock.limits(part=part)
            self._offer(search.run(self._best(), limits, rounds, float(self._now.bound)))
        if search.interrupted:
            raise KeyboardInterrupt

    def _choose(self, prices: Prices) -> None:
        """Take an integer choice of the columns, and improve it by ruin and recreate."""
        choice = chosen(self._instance, prices, self._clock.limits(part=CHOICE_PART))
        self._offer(choice.decision())
        best = enumerate(self._best().schedules)
        known = Placing.of(self._instance, {i: plans for i, plans in best if plans})
        search = PricedSearch(self._instance, prices, self._rng, known)
        search.run(self._clock.limits(part=PLACING_PART), PLACING_ROUNDS, float(self._now.bound))
        if search.best is not None:
            self._offer(search.best.decision())

    def _pass_over(self, deadlines: Deadlines) -> None:
        """Postpone these and all earlier deadlines; the bound keeps the master's value."""
        self._passed_over = max(self._passed_over, min(self._promised, self._certified))
        self._passed.append(deadlines)
        self._mip.no_goods.append(dict(deadlines))
        self._counts["passed_over"] += 1

    def _look_again(self) -> bool:
        """Try the postponed deadlines again, for longer; return True if there are any."""
        if not self._passed or self._now.over:
            return False
        self._mip.no_goods = [known for known in self._mip.no_goods if known not in self._passed]
        self._passed, self._passed_over, self._exhausted = [], 0.0, False
        self._prove_s *= LONGER
        return True

    def _online(self) -> None:
        """Take the best decision of PD-ORS at several ranges of prices."""
        with self._clock.phase("online"):
            for span in PRICE_SPANS:
                limits = self._clock.limits(ONLINE_PART, ONLINE_S)
                prices = price_range(self._instance, log_price_span=span)
                found = decide(self._instance, limits, prices).solution
                if isinstance(found, PdOrsSolution):
                    self._offer(found)

    def _reserve(self) -> None:
        """Look for a first decision with ever more reserve, or a better one with less of it."""
        while not self._enough and self._next_reserve < 1 and not self._now.over:
            if self._reserved(self._next_reserve):
                self._enough = self._next_reserve
            else:
                self._too_little = self._next_reserve
                self._next_reserve *= GROWTH
        if not self._now.over and self._enough - self._too_little > FIRST_RESERVE / 2:
            between = (self._enough + self._too_little) / 2
            if self._reserved(between):
                self._enough = between
            else:
                self._too_little = between

    def _reserved(self, reserve: float) -> bool:
        """Look for a decision that leaves a part of every slot free, which is easier to pack.

        Return False only if there may be a better one that needs more reserve.
        """
        with self._clock.phase("reserved"):
            outcome = self._mip.most_utility(
                COMPLETIONS,
                self._clock.limits(part=RESERVED_PART),
                self._seed,
                reserve=reserve,
                start=self._known(),
            )
        if outcome.values is None:
            return False
        if outcome.objective is not None and float(outcome.objective) <= self._now.value:
            return True
        deadlines = self._mip.deadlines(outcome.values)
        found = self._schedules.find(deadlines, 1).solution
        if found is not None:
            self._offer(found)
        return found is not None

    def _known(self) -> Deadlines:
        return self._mip.deadlines_of(self._best())

    def outcome(self) -> MethodOutcome:
        """Return the outcome of the search."""
        return self._now.outcome(
            self._best(),
            **self._counts,
            schedules=self._schedules.tried,
            cuts=len(self._mip.cuts),
            block_cuts=len(self._mip.block_cuts),
            conflicts=len(self._mip.conflicts),
            no_goods=len(self._mip.no_goods) - self._counts["passed_over"],
        )

    def _master(self, level: Sequence[str], part: float) -> Deadlines | None:
        """Return deadlines of the most utility that no known row rules out."""
        if self._exhausted:
            return None
        # Where the modes are integer, the row helps to prove; else it hinders HiGHS's heuristics.
        at_least = float(self._now.value) * (1 + IMPROVEMENT) if level == MODES else None
        begin_s = self._clock.elapsed_s
        # HiGHS finds far better values without machines by itself, and searches worse from ours.
        start = self._known() if self._prices is None else None
        with self._clock.phase("master"):
            outcome = self._mip.most_utility(
                level, self._clock.limits(part=part), self._seed, at_least, start=start
            )
        self._last_master_s = self._clock.elapsed_s - begin_s
        self._counts["masters"] += 1
        self._master_closed = outcome.status is Status.OPTIMAL or outcome.limit_hit == "gap"
        if outcome.status is Status.INFEASIBLE:
            self._exhausted = True
            self._lower(float(self._now.value))
            return None
        if outcome.bound is not None:
            self._promised = float(outcome.bound)
            self._lower(self._promised)
            self._exhausted = self._now.closes(self._promised)
        if outcome.limit_hit == "interrupted":
            raise KeyboardInterrupt
        if outcome.values is None or self._exhausted:
            return None
        return self._mip.deadlines(outcome.values)

    def _lower(self, bound: float, certificate: PdOrsCertificate | None = None) -> None:
        self._now.prove(max(bound, self._passed_over), certificate)

    def _offer(self, decision: PdOrsSolution) -> None:
        self._now.offer(utility_of(self._instance, decision), decision)

    def _best(self) -> PdOrsSolution:
        assert self._now.best is not None
        return self._now.best
