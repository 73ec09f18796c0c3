"""The optimum over all slots: a relaxation without bandwidth, and a schedule that reaches it.

The epoch relaxation O2 asks for a total of every job; if the constructor O3 finds rings of these
totals the schedule is optimal (both reconstructed). Where bandwidth binds it may fail. Then rings
are exchanged, totals that slots cannot share out are cut off, and CP-SAT is asked whether the
totals can be reached at all: a schedule that has them is optimal, and if there is none they are
forbidden and the relaxation is solved again. Where that does not close the gap, and on graphs, for
which there is no constructor, a model of all slots is searched from the best schedule on, below the
best bound (all reconstructed).
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers import CLOSED_GAP
from gadgetopt.result import Limits, MethodOutcome, TracePoint

from .constructor import construct_repeatedly, worth
from .epoch_cuts import EpochCut, Nogood, SlotPatterns, with_cuts
from .epochs import EpochForm, epoch_form
from .exchange import exchange
from .hull import envelope
from .instance import GadgetInstance, GadgetSolution
from .max_ring import largest_rings
from .schedule import Schedule, as_solution
from .slot_greedy import slot_greedy
from .slot_problem import Mapping, SlotProblem
from .slot_solver import SlotResult
from .temporal_greedy import temporal_greedy
from .terms import Terms

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Totals may be lowered by what brings less than this part of a job's utility before they are
#: asked for: if even these cannot be reached, much more is ruled out.
TAIL = 1e-3
#: Exchanges for every slot and job with a total.
MOVES = 50
#: How much longer CP-SAT may take for totals set aside, when nothing else is left.
PATIENCE = 20.0


@dataclass
class _Search:
    """Schedule, bound and what was learnt."""

    terms: Terms
    largest: Ints
    relaxation: EpochForm
    patterns: SlotPatterns
    limits: Limits
    begun: float
    best: Schedule
    start: Schedule
    value: float = -np.inf
    bound: float = np.inf
    cuts: list[EpochCut] = field(default_factory=list)
    nogoods: list[Nogood] = field(default_factory=list)
    #: Totals set aside: they may or may not be reached, and the bound stays as it is from then on.
    undecided: list[Nogood] = field(default_factory=list)
    trace: list[TracePoint] = field(default_factory=list)
    phases_s: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    limit_hit: str | None = None

    @property
    def closed(self) -> bool:
        found = self.value > -np.inf
        return found and self.bound - self.value <= CLOSED_GAP * abs(self.value)

    @property
    def over(self) -> bool:
        return self.limits.time_s is not None and self.elapsed >= self.limits.time_s

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.begun

    def rest(self, at_most: float | None = None) -> Limits:
        """Return what is left of the limits, for one step."""
        left = None if self.limits.time_s is None else max(0.0, self.limits.time_s - self.elapsed)
        if at_most is not None:
            left = at_most if left is None else min(left, at_most)
        return replace(self.limits, time_s=left)

    def spent(self, phase: str, since: float) -> None:
        self.phases_s[phase] = self.phases_s.get(phase, 0.0) + self.elapsed - since

    def found(self, made: Schedule) -> None:
        """Take a schedule that is better."""
        value = worth(self.terms, made.done)
        if value > self.value:
            self.best, self.value = made, value
            self.trace.append(TracePoint(self.elapsed, value, self.bound))


def offline(
    instance: GadgetInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    restarts: int = 20,
    rounds: int = 30,
    exchange_s: float = 2.0,
    reach_s: float = 5.0,
    search_s: float = 60.0,
) -> MethodOutcome:
    """Solve the epoch relaxation, build a schedule of its totals, cut them off if there is none.

    Parameters
    ----------
    restarts : int
        Attempts of the constructor after the first, with noise.
    rounds : int
        Relaxations that are solved at most.
    exchange_s, reach_s : float
        Seconds of a round for the exchange of rings, and for CP-SAT's answer to one question; with
        0 the step is left out. Totals that are not decided in time are set aside for later.
    search_s : float
        Seconds for the search of a model of all slots at the end; with 0 it is left out.

    Notes
    -----
    On a graph the schedule to start from is that of Algorithm 1.
    """
    search = _begin(instance, limits)
    if instance.terms.tree is None:
        _relax(search, rng)
        _slot_by_slot(search, rng)
    else:
        _reach_totals(search, rng, restarts, rounds, exchange_s, reach_s)
    solution = as_solution(search.terms, search.best) if search.value > -np.inf else None
    if search_s > 0 and not (search.closed or search.over):
        solution = _search_all_slots(search, instance, rng, search_s) or solution
    return MethodOutcome(
        solution=solution,
        dual_bound=search.bound if np.isfinite(search.bound) else None,
        limit_hit=search.limit_hit or ("time_s" if search.over and not search.closed else None),
        trace=tuple(search.trace),
        phases_s=search.phases_s,
        versions=search.versions,
        notes={
            "cuts": len(search.cuts),
            "totals_ruled_out": len(search.nogoods),
            "totals_undecided": len(search.undecided),
        },
    )


def _reach_totals(
    search: _Search,
    rng: np.random.Generator,
    restarts: int,
    rounds: int,
    exchange_s: float,
    reach_s: float,
) -> None:
    """Solve the relaxation and look for a schedule of its totals, or cuts, until they meet."""
    for _ in range(rounds):
        target = _relax(search, rng)
        if target is None:
            if reach_s > 0 and _reconsider(search, rng, PATIENCE * reach_s):
                continue
            break
        _construct(search, target, rng, restarts, exchange_s)
        if search.closed or search.over:
            break
        if _separate(search, target, rng):
            continue
        _decide(search, target, rng, reach_s)
        if search.closed or search.over:
            break


def _begin(instance: GadgetInstance, limits: Limits) -> _Search:
    begun = time.perf_counter()
    terms = instance.terms
    largest = largest_rings(terms)
    relaxation = epoch_form(terms, largest)
    patterns = SlotPatterns(terms, relaxation.epochs, largest, _exact_slot)
    nothing = Schedule(((),) * terms.horizon, np.zeros(len(terms.jobs), dtype=np.int64))
    sizes = np.array(largest, dtype=np.int64)
    search = _Search(terms, sizes, relaxation, patterns, limits, begun, nothing, nothing)
    search.spent("build", 0.0)
    return search


def _exact_slot(problem: SlotProblem, limits: Limits, rng: np.random.Generator) -> SlotResult:
    # CP-SAT is loaded only where bandwidth binds.
    from .cp_totals import exact_slot

    return exact_slot(problem, limits, rng)


def _relax(search: _Search, rng: np.random.Generator) -> Ints | None:
    """Solve the relaxation with what was learnt, and return the totals it asks for."""
    from gadgetopt.solvers.highs import solve_form

    since = search.elapsed
    form = with_cuts(search.relaxation, search.cuts, [*search.nogoods, *search.undecided])
    solved = solve_form(form, search.rest(), int(rng.integers(2**31 - 1)))
    search.versions.update(solved.versions)
    search.limit_hit = solved.limit_hit
    bound = np.inf if solved.bound is None else float(solved.bound)
    if bound < search.bound and not search.undecided:
        search.bound = bound
        search.trace.append(
            TracePoint(
                search.elapsed, search.value if np.isfinite(search.value) else None, search.bound
            )
        )
    search.spent("relaxation", since)
    # With totals set aside: is there anything better among all others?
    if solved.values is None or bound <= search.value:
        return None
    return search.relaxation.totals(solved.values, len(search.terms.jobs))


def _construct(
    search: _Search, target: Ints, rng: np.random.Generator, restarts: int, exchange_s: float
) -> None:
    since, terms = search.elapsed, search.terms
    made = construct_repeatedly(terms, target, search.largest, rng, search.rest(), restarts)
    search.found(made)
    if not search.closed and exchange_s > 0:
        moves = MOVES * terms.horizon * int((target > 0).sum())
        made = exchange(terms, target, search.largest, made, rng, search.rest(exchange_s), moves)
        search.found(made)
    if not search.closed:
        search.patterns.add_schedule(made.mappings)
    search.start = made
    search.spent("construct", since)


def _separate(search: _Search, target: Ints, rng: np.random.Generator) -> bool:
    """Look for a cut that the totals violate; say whether there is one."""
    since = search.elapsed
    gains = [
        job.utility[k] - job.utility[0] for job, k in zip(search.terms.jobs, target, strict=True)
    ]
    cut = search.patterns.separate(
        target, np.array(gains) / np.maximum(1, target), search.rest(), rng
    )
    search.spent("cuts", since)
    if cut is not None:
        search.cuts.append(cut)
    return cut is not None


def _decide(search: _Search, target: Ints, rng: np.random.Generator, reach_s: float) -> None:
    """Ask whether the totals, or a little less, can be reached; if not, they are ruled out."""
    from .cp_totals import Reached, reach_totals

    since, terms = search.elapsed, search.terms
    for wanted in (_without_tails(terms, target), target):
        answer = Reached(None, impossible=False)
        if reach_s > 0:
            rest, seed = search.rest(reach_s), int(rng.integers(2**31 - 1))
            answer = reach_totals(terms, wanted, search.largest, search.start, rest, seed)
        if answer.schedule is None:
            least = {i: int(wanted[i]) for i in np.flatnonzero(wanted).tolist()}
            (search.nogoods if answer.impossible else search.undecided).append(Nogood(least))
            break
        search.found(answer.schedule)
        search.start = answer.schedule
        if search.closed:
            break
    search.spent("decide", since)


def _reconsider(search: _Search, rng: np.random.Generator, reach_s: float) -> bool:
    """Ask again for the totals set aside; say whether all were decided."""
    from .cp_totals import reach_totals

    since, terms = search.elapsed, search.terms
    waiting, search.undecided = search.undecided, []
    for nogood in waiting:
        if search.closed or search.over:
            break
        wanted = np.zeros(len(terms.jobs), dtype=np.int64)
        wanted[list(nogood.least)] = list(nogood.least.values())
        rest, seed = search.rest(reach_s), int(rng.integers(2**31 - 1))
        answer = reach_totals(terms, wanted, search.largest, search.best, rest, seed)
        if answer.schedule is not None:
            search.found(answer.schedule)
        else:
            (search.nogoods if answer.impossible else search.undecided).append(nogood)
    search.spent("decide", since)
    return bool(waiting) and not (search.undecided or search.closed or search.over)


def _slot_by_slot(search: _Search, rng: np.random.Generator) -> None:
    """Run Algorithm 1 on concave envelopes, with slots solved greedily and by Algorithm 2."""
    from .lp_rs_mde import lp_rs_mde

    since, terms = search.elapsed, search.terms

    def greedy(problem: SlotProblem, rng: np.random.Generator, limits: Limits) -> list[Mapping]:
        return slot_greedy(problem)

    def algorithm_2(
        problem: SlotProblem, rng: np.random.Generator, limits: Limits
    ) -> list[Mapping]:
        return lp_rs_mde(problem, limits, rng)

    tables = [envelope(job.utility) for job in terms.jobs]
    for solver in (greedy, algorithm_2):
        if search.closed or search.over:
            break
        with contextlib.suppress(ModelRefused):
            run = temporal_greedy(
                terms, solver, rng, search.rest(), tables=tables, largest=search.largest.tolist()
            )
            search.found(Schedule(run.mappings, run.done))
    search.spent("slot by slot", since)


def _search_all_slots(
    search: _Search, instance: GadgetInstance, rng: np.random.Generator, search_s: float
) -> GadgetSolution | None:
    """Search a model of all slots; return a solution if it is better than the best schedule."""
    # CP-SAT is loaded only where a gap is left.
    from .horizon_search import search_horizon

    since, terms = search.elapsed, search.terms
    found = MethodOutcome()
    with contextlib.suppress(ModelRefused):
        found = search_horizon(
            instance, search.rest(search_s), rng, search.best.mappings, search.bound
        )
    search.spent("search", since)
    search.versions.update(found.versions)
    if found.dual_bound is not None:
        search.bound = min(search.bound, float(found.dual_bound))
    solution = found.solution
    if not isinstance(solution, GadgetSolution):
        return None
    done = np.zeros(len(terms.jobs), dtype=np.int64)
    for placed in solution.rings:
        done[placed.job] += len(placed.servers)
    value = worth(terms, done)
    if value <= search.value:
        return None
    search.value = value
    search.trace.append(TracePoint(search.elapsed, value, search.bound))
    return solution


def _without_tails(terms: Terms, target: Ints) -> Ints:
    """Lower totals by what brings next to nothing."""
    out = target.copy()
    for job in terms.jobs:
        u, k = job.utility, int(target[job.index])
        enough = u[k] - TAIL * (u[k] - u[0])
        out[job.index] = int(np.searchsorted(u, enough)) if k else 0
    return out
