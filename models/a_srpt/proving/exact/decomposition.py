r"""The exact method for (F): the pool first, its servers next, both together only if need be.

0. Few jobs: the pool's optimum by CP-SAT, if that takes it a second at most, and servers for it.
   Prices of the ascent then mostly leave few states (step 3), and step 1 is not needed.
1. Prices of the pool's linear program: a certificate, and later the starts that a better schedule
   may have (`pool_program`).
2. A schedule of the pool by annealing; servers for its starts, or else serial schedules.
3. Dynamic programming over the states of time that these starts leave (`pool_states`), or, if there
   are too many, the program (5) over the starts: the pool's optimum :math:`Z_P`, a bound on (F).
   After step 0, the states only have to show that no schedule is better; if servers do not allow
   the pool's optimum, CP-SAT minimises model B for a second before step 5.
4. Servers for its starts that keep all jobs at their shortest durations. If there are such, the
   schedule is optimal.
5. Otherwise model B in CP-SAT, with the rows of (5): is there a schedule of cost :math:`Z_P`? Of
   one unit more, of three more, and so on, each time among the starts that the prices leave for
   that cost. If a question finds no answer in time, model B is minimised from the best schedule.
   A "no" is proved by looking at all schedules on servers, if these are few
   (`cluster_exhaustion`).

Bounds of prices and of states have certificates, and so have those of step 5 where schedules are
few; others are a solver's word. Instances that are too large for this get the best schedule and
bound of the methods that scale (`at_scale`).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.numbers.tolerance import round_up
from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp, value_of
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...instance import ASrptInstance
from ...relaxations import Pool, pool_of
from ...subproblems.configurations import Configurations
from ..bounds.outcome import step_proof
from ..certificate.check import ASrptCertificate, ClusterStates, PoolStates, Prices, check_bound
from ..certificate.cluster_exhaustion import none_cheaper
from ..certificate.price_checks import StepPrices
from ..formulations.cp_model import ScheduleModel
from ..serial_schedule import Schedule, first_schedule, serial_schedule
from ..start_costs import better_starts
from .at_scale import best_at_scale
from .pool_program import first_steps, price_ticks, solve_program, ticks_of
from .pool_search import pool_schedule
from .pool_states import MOST_STATES as MOST_POOL_STATES
from .pool_states import improved_by_states
from .server_assignment import servers_for

#: More jobs than this, or configurations of a job, and the search does not begin.
#: Tuned: `benchmarks/constants.py`.
MOST_JOBS, MOST_CONFIGURATIONS = 400, 2000
#: Jobs of which CP-SAT is asked for the pool's optimum first, and for how many seconds.
#: Tuned: `benchmarks/constants.py`.
FEW_JOBS, FEW_JOBS_S = 22, 1.0
#: States of the pool that are looked at before its prices are the best.
#: Tuned: `benchmarks/constants.py`.
FEW_STATES = 5000
#: Starts of which the program is solved sooner than a better schedule is found.
#: Tuned: `benchmarks/constants.py`.
FEW_STARTS = 500
#: States of schedules on servers that are looked at for a proof, about 30 microseconds each.
#: Tuned: `benchmarks/constants.py`.
MOST_STATES = 50_000
#: Entries that the rows of (5) may have in model B. Tuned: `benchmarks/constants.py`.
MOST_ENTRIES = 10**6
#: Parts of the time left: for servers of a given schedule, and for a schedule of a given cost.
#: Tuned: `benchmarks/constants.py`.
ASSIGNMENT_PART, QUESTION_PART = 0.2, 0.6


@method(kind="exact", reference="4.5 (reconstructed)", formulation="decomposition")
def decomposition(
    instance: ASrptInstance, limits: Limits, rng: np.random.Generator, *, annealings: int = 3
) -> MethodOutcome:
    """The pool by prices and states of time, servers for its starts, then model B.

    Parameters
    ----------
    instance : ASrptInstance
    limits : Limits
    rng : numpy.random.Generator
    annealings : int
        Searches for a schedule of the pool; fewer if the prices leave few starts after one.
    """
    if len(instance.jobs) > MOST_JOBS:
        return best_at_scale(instance, limits, rng)
    search: Search[Schedule] = Search("min", limits)
    try:
        configurations = Configurations(instance, MOST_CONFIGURATIONS)
        run = _Decomposition(configurations, search, rng)
        with search.interruptible():
            run.solve(annealings)
    except ModelRefused:
        return best_at_scale(instance, search.clock.limits(), rng)
    solution = None if search.best is None else search.best.solution(configurations)
    return search.outcome(solution, closed_by=run.step)


class _Decomposition:
    """Steps 1 to 5; `step` names the last one."""

    def __init__(
        self, configurations: Configurations, search: Search[Schedule], rng: np.random.Generator
    ):
        self.instance = configurations.instance
        self.configurations, self.search, self.rng = configurations, search, rng
        self.pool: Pool = pool_of(self.instance)
        self.unit = int(np.gcd.reduce(self.pool.weight))
        self.step = ""
        #: False once the schedules on servers were too many to look at.
        self._few_schedules = True

    def solve(self, annealings: int) -> None:
        """Take the steps until the search is over."""
        clock = self.search.clock
        self.step = "search"
        with clock.phase("search"):
            self._offer(first_schedule(self.configurations))
        self.step = "few jobs"
        with clock.phase("few jobs"):
            optimal = self._few_jobs()
        value, starts = optimal or (0, np.zeros(0, dtype=np.int64))
        if optimal is None:
            with clock.phase("search"):
                value, starts = pool_schedule(self.pool, 0, self.rng, clock)
        self.step = "prices"
        with clock.phase("prices"):
            steps = first_steps(self.pool, clock)
            self._certify(steps.times, steps.prices)
        prices: Floats | None
        if optimal is None:
            prices = self._solve_pool(steps, (value, starts), annealings)
        else:
            prices = self._confirm(steps, value, starts)
        if self.search.over:
            return
        self.step = "model B"
        with clock.phase("model B"):
            if optimal is not None:
                self._few_together(prices)
            if not self.search.over:
                self._together(prices)

    def _solve_pool(self, steps: StepPrices, known: tuple[int, Ints], annealings: int) -> Floats:
        """Take steps 1 to 4 for many jobs; return the prices."""
        clock = self.search.clock
        with clock.phase("prices"):
            prices = price_ticks(self.pool, known[1], steps, clock)
            bound = self._certify_ticks(prices)
        with clock.phase("search"):
            value, starts = self._anneal(prices, bound, known, annealings)
            self._place(starts)
        if self.search.over:
            return prices
        better = self._improve_pool(prices, value)
        if better is not None and not self.search.over:
            self._place(better)
        return prices

    def _confirm(self, steps: StepPrices, value: int, starts: Ints) -> Floats | None:
        """Look for a certificate that CP-SAT's optimum of the pool is one; return the prices.

        Prices of the ascent leave few states where jobs are few, and the program has a row for
        every tick of long jobs: it is solved only if they do not. Jobs may be too long for prices
        of every tick; CP-SAT's word stands then.
        """
        try:
            return self._confirm_by_states(steps, value, starts)
        except ModelRefused:
            return None
        finally:
            self._prove(value)

    def _confirm_by_states(self, steps: StepPrices, value: int, starts: Ints) -> Floats:
        clock = self.search.clock
        prices = ticks_of(self.pool, starts, steps)
        bound = self._by_states(prices, value, FEW_STATES)
        if bound < value:
            self.step = "prices"
            with clock.phase("prices"):
                prices = price_ticks(self.pool, starts, steps, clock)
                self._certify_ticks(prices)
            self._by_states(prices, value, MOST_POOL_STATES)
        return prices

    def _by_states(self, prices: Floats, value: int, most_states: int) -> int:
        """Prove as much as states of the pool do; return it times the weight scale."""
        if self.search.over:
            return value
        self.step = "states"
        with self.search.clock.phase("states"):
            bound, _ = improved_by_states(self.pool, prices, value, self.search.clock, most_states)
            self._prove(bound, self._states(PoolStates, prices, bound))
        return bound

    def _few_jobs(self) -> tuple[int, Ints] | None:
        """Solve the pool of few jobs by CP-SAT; return its optimum if it is proved at once."""
        known = self.search.best
        assert known is not None
        if len(self.instance.jobs) > FEW_JOBS:
            return None
        model = ScheduleModel(self.instance, known)
        model.pool_of_shortest_jobs()
        limits = self.search.clock.limits(ASSIGNMENT_PART, FEW_JOBS_S)
        solved = solve_cp(model.model, limits, seed_of(self.rng))
        if solved.values is None or solved.bound is None:
            return None
        starts = np.array([value_of(solved.values, start) for start in model.start])
        value = int(self.pool.weight @ (starts + self.pool.duration))
        if round_up(solved.bound) < value:
            return None
        self._place(starts)
        return value, starts

    def _anneal(
        self, prices: Floats, bound: int, known: tuple[int, Ints], annealings: int
    ) -> tuple[int, Ints]:
        """Search for a better schedule of the pool while the prices leave many starts."""
        clock = self.search.clock
        value, starts = known
        for _ in range(annealings):
            found, of_found = pool_schedule(self.pool, 1, self.rng, clock, bound)
            if found < value:
                value, starts = found, of_found
            left = better_starts(self.pool, prices, value)
            if clock.expired or left.none_better or left.allowed.sum() <= FEW_STARTS:
                break
        return value, starts

    def _offer(self, schedule: Schedule) -> None:
        self.search.offer(Fraction(schedule.value, self.pool.weight_scale), schedule)

    def _prove(self, bound: int, certificate: ASrptCertificate | None = None) -> None:
        """Take a bound times the weight scale; optima are multiples of `unit`."""
        whole = -(-bound // self.unit) * self.unit
        self.search.prove(Fraction(whole, self.pool.weight_scale), certificate)

    def _states(self, kind: type[PoolStates], prices: Floats, bound: int) -> ASrptCertificate:
        """Return the certificate that no schedule costs less than a bound times the scale."""
        left = better_starts(self.pool, prices, bound)
        scale = self.pool.weight_scale
        change = np.flatnonzero(np.diff(left.prices, prepend=-1)).tolist()
        proof = kind(
            times=(*change, len(left.prices)),
            prices=tuple(left.prices[change].tolist()),
            denominator=left.denominator * scale,
            bound=Fraction(bound, scale),
        )
        return ASrptCertificate(proof=proof, attainable=True)

    def _place(self, starts: Ints) -> None:
        """Offer a schedule of the pool on servers: as it is, or else its jobs in its order."""
        limits = self.search.clock.limits(ASSIGNMENT_PART)
        status, rows = servers_for(self.configurations, starts, limits, seed_of(self.rng))
        if status is Status.OPTIMAL:
            ends = starts + self.pool.duration
            self._offer(Schedule(int(self.pool.weight @ ends), starts, rows))
        else:
            order = np.lexsort((self.pool.work, starts)).tolist()
            self._offer(serial_schedule(self.configurations, order))

    def _certify(self, times: Floats, prices: Floats) -> int:
        """Prove the bound of prices on a grid; return it times the weight scale."""
        proof = step_proof(Prices, self.pool, times, prices)
        certificate = ASrptCertificate(proof=proof, attainable=True)
        bound = check_bound(self.instance, certificate)
        self.search.prove(bound, certificate)
        return int(bound * self.pool.weight_scale)

    def _certify_ticks(self, prices: Floats) -> int:
        return self._certify(np.arange(len(prices) + 1, dtype=np.float64), prices)

    def _improve_pool(self, prices: Floats, value: int) -> Ints | None:
        """Solve the pool; return its optimal starts if they are better than a known value."""
        clock = self.search.clock
        self.step = "states"
        with clock.phase("states"):
            bound, best = improved_by_states(self.pool, prices, value, clock)
            self._prove(bound, self._states(PoolStates, prices, bound))
        if bound == value or best is not None:
            return best
        self.step = "program"
        left = better_starts(self.pool, prices, value)
        with clock.phase("program"):
            solved, best = solve_program(self.pool, left.allowed, clock.limits(), seed_of(self.rng))
        found = value
        if best is not None:
            found = min(value, int(self.pool.weight @ (best + self.pool.duration)))
        if solved.status in (Status.OPTIMAL, Status.INFEASIBLE):
            self._prove(found)
        else:
            self.search.limit_hit = solved.limit_hit
            if solved.bound is not None:
                self._prove(min(found, round_up(solved.bound)))
        return best if found < value else None

    def _few_together(self, prices: Floats | None) -> None:
        """Minimise model B of few jobs, whose starts need no tables of ticks, for a short time."""
        solved = self._solve_model_b(None, self.search.clock.limits(QUESTION_PART, FEW_JOBS_S))
        if solved.bound is None or self.search.best is None:
            return
        value, bound = self.search.best.value, round_up(solved.bound)
        certificate = None
        if bound >= value and prices is not None:
            certificate = self._exhausted(prices, value)
        self._prove(bound, certificate)

    def _together(self, prices: Floats | None) -> None:
        """Ask for a schedule on servers of the least cost that is open, then of more."""
        if prices is None:
            self._minimise(None)
            return
        step = self.unit
        while not self.search.over:
            known = self.search.best
            assert known is not None
            least = round_up(self.search.bound * self.pool.weight_scale)
            most = min(least + step - self.unit, known.value - self.unit)
            left = better_starts(self.pool, prices, most + self.unit)
            if left.none_better:
                self._prove(most + self.unit)
                continue
            if int(left.allowed.sum(axis=1) @ self.pool.duration) > MOST_ENTRIES:
                self._minimise(prices)
                return
            model = self._model_b(left.allowed)
            model.one_literal_a_start(left.allowed)
            model.costs_at_most(most)
            limits = self.search.clock.limits(QUESTION_PART)
            solved = solve_cp(model.model, limits, seed_of(self.rng))
            if solved.values is not None:
                self._offer_values(model, solved.values)
            elif solved.status is Status.INFEASIBLE:
                self._prove(most + self.unit, self._exhausted(prices, most + self.unit))
                step *= 2
            else:
                self._minimise(prices)
                return

    def _exhausted(self, prices: Floats, bound: int) -> ASrptCertificate | None:
        """Return a certificate that no schedule on servers is below a bound, None without one."""
        certificate = self._states(ClusterStates, prices, bound)
        left = better_starts(self.pool, prices, bound)
        whole, few = left.prices.tolist(), MOST_STATES if self._few_schedules else 0
        self._few_schedules = none_cheaper(self.instance, whole, left.denominator, bound, few)
        return certificate if self._few_schedules else None

    def _minimise(self, prices: Floats | None) -> None:
        """Solve model B among schedules no worse than the incumbent."""
        known = self.search.best
        assert known is not None
        allowed = None
        if prices is not None:
            allowed = better_starts(self.pool, prices, known.value).allowed
            allowed[np.arange(len(allowed)), known.starts] = True
        solved = self._solve_model_b(allowed, self.search.clock.limits())
        if solved.bound is not None:
            self._prove(round_up(solved.bound))
        self.search.limit_hit = solved.limit_hit

    def _solve_model_b(self, allowed: Bools | None, limits: Limits) -> SolverOutcome:
        """Minimise model B from the incumbent; offer what it finds."""
        model = self._model_b(allowed)
        model.hint_starts()
        model.costs_at_least(round_up(self.search.bound * self.pool.weight_scale))
        solved = solve_cp(model.model, limits, seed_of(self.rng))
        if solved.values is not None:
            self._offer_values(model, solved.values)
        return solved

    def _model_b(self, allowed: Bools | None) -> ScheduleModel:
        assert self.search.best is not None
        model = ScheduleModel(self.instance, self.search.best, allowed)
        model.gpus_from_a_table(self.configurations)
        return model

    def _offer_values(self, model: ScheduleModel, values: Floats) -> None:
        starts, rows = model.decode(values)
        cost = sum(
            int(w) * value_of(values, end)
            for w, end in zip(self.pool.weight, model.end, strict=True)
        )
        self._offer(Schedule(cost, np.array(starts), rows))
