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

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.slot_greedy import slot_greedy
from ..algorithms.slot_solver import SlotResult
from ..algorithms.temporal_greedy import temporal_greedy
from ..instance import GadgetInstance, GadgetSolution
from ..subproblems.epochs import epoch_form
from ..subproblems.hull import envelope
from ..subproblems.max_ring import largest_rings
from ..subproblems.schedule import Schedule, as_solution
from ..subproblems.slot_problem import Mapping, SlotProblem
from ..terms import Terms
from .construction import construct_repeatedly, worth
from .epoch_cuts import (
    EpochCut,
    Nogood,
    SlotPatterns,
    with_cuts,
)
from .ring_exchange import exchange

#: Totals may be lowered by what brings less than this part of a job's utility before they are
#: asked for: if even these cannot be reached, much more is ruled out.
TAIL = 1e-3
#: Exchanges for every slot and job with a total.
MOVES = 50
#: How much longer CP-SAT may take for totals set aside, when nothing else is left.
PATIENCE = 20.0


class _Search(Search[GadgetSolution]):
    """Schedule, bound and what was learnt."""

    def __init__(self, terms: Terms, limits: Limits):
        super().__init__("max", limits)
        self.terms = terms
        with self.clock.phase("build"):
            largest = largest_rings(terms)
            self.largest: Ints = np.array(largest, dtype=np.int64)
            self.relaxation = epoch_form(terms, largest)
            self.patterns = SlotPatterns(terms, self.relaxation.epochs, largest, _exact_slot)
        #: The best schedule, and the one of the last totals.
        self.schedule = self.start = Schedule(
            ((),) * terms.horizon, np.zeros(len(terms.jobs), dtype=np.int64)
        )
        self.cuts: list[EpochCut] = []
        self.nogoods: list[Nogood] = []
        #: Totals set aside: they may or may not be reached, and the bound stays as it is from then
        #: on.
        self.undecided: list[Nogood] = []

    def found(self, made: Schedule) -> None:
        """Take a schedule that is better."""
        if self.offer(worth(self.terms, made.done), as_solution(self.terms, made)):
            self.schedule = made


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
    search = _Search(instance.terms, limits)
    if instance.terms.tree is None:
        _relax(search, rng)
        _slot_by_slot(search, rng)
    else:
        _reach_totals(search, rng, restarts, rounds, exchange_s, reach_s)
    if search_s > 0 and not search.over:
        _search_all_slots(search, instance, rng, search_s)
    return search.outcome(
        search.best,
        cuts=len(search.cuts),
        totals_ruled_out=len(search.nogoods),
        totals_undecided=len(search.undecided),
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
        if search.over:
            break
        if _separate(search, target, rng):
            continue
        _decide(search, target, rng, reach_s)
        if search.over:
            break


def _exact_slot(problem: SlotProblem, limits: Limits, rng: np.random.Generator) -> SlotResult:
    # CP-SAT is loaded only where bandwidth binds.
    from .cp_totals import exact_slot

    return exact_slot(problem, limits, rng)


def _relax(search: _Search, rng: np.random.Generator) -> Ints | None:
    """Solve the relaxation with what was learnt, and return the totals it asks for."""
    from gadgetopt.solvers.highs import solve_form

    with search.clock.phase("relaxation"):
        form = with_cuts(search.relaxation, search.cuts, [*search.nogoods, *search.undecided])
        solved = solve_form(form, search.clock.limits(), seed_of(rng))
    search.versions.update(solved.versions)
    search.limit_hit = solved.limit_hit
    bound = np.inf if solved.bound is None else float(solved.bound)
    if not search.undecided:
        search.prove(bound)
    # With totals set aside: is there anything better among all others?
    if solved.values is None or bound <= search.value:
        return None
    return search.relaxation.totals(solved.values, len(search.terms.jobs))


def _construct(
    search: _Search, target: Ints, rng: np.random.Generator, restarts: int, exchange_s: float
) -> None:
    terms, clock = search.terms, search.clock
    with clock.phase("construct"):
        made = construct_repeatedly(terms, target, search.largest, rng, clock.limits(), restarts)
        search.found(made)
        if not search.closed and exchange_s > 0:
            moves = MOVES * terms.horizon * int((target > 0).sum())
            limits = clock.limits(at_most_s=exchange_s)
            made = exchange(terms, target, search.largest, made, rng, limits, moves)
            search.found(made)
        if not search.closed:
            search.patterns.add_schedule(made.mappings)
    search.start = made


def _separate(search: _Search, target: Ints, rng: np.random.Generator) -> bool:
    """Look for a cut that the totals violate; say whether there is one."""
    gains = [
        job.utility[k] - job.utility[0] for job, k in zip(search.terms.jobs, target, strict=True)
    ]
    worths = np.array(gains) / np.maximum(1, target)
    with search.clock.phase("cuts"):
        cut = search.patterns.separate(target, worths, search.clock.limits(), rng)
    if cut is not None:
        search.cuts.append(cut)
    return cut is not None


def _decide(search: _Search, target: Ints, rng: np.random.Generator, reach_s: float) -> None:
    """Ask whether the totals, or a little less, can be reached; if not, they are ruled out."""
    from .cp_totals import Reached, reach_totals

    terms, clock = search.terms, search.clock
    for wanted in (_without_tails(terms, target), target):
        answer = Reached(None, impossible=False)
        if reach_s > 0:
            limits = clock.limits(at_most_s=reach_s)
            with clock.phase("decide"):
                answer = reach_totals(
                    terms, wanted, search.largest, search.start, limits, seed_of(rng)
                )
        if answer.schedule is None:
            least = {i: int(wanted[i]) for i in np.flatnonzero(wanted).tolist()}
            (search.nogoods if answer.impossible else search.undecided).append(Nogood(least))
            break
        search.found(answer.schedule)
        search.start = answer.schedule
        if search.closed:
            break


def _reconsider(search: _Search, rng: np.random.Generator, reach_s: float) -> bool:
    """Ask again for the totals set aside; say whether all were decided."""
    from .cp_totals import reach_totals

    terms, clock = search.terms, search.clock
    waiting, search.undecided = search.undecided, []
    for nogood in waiting:
        if search.over:
            break
        wanted = np.zeros(len(terms.jobs), dtype=np.int64)
        wanted[list(nogood.least)] = list(nogood.least.values())
        limits = clock.limits(at_most_s=reach_s)
        with clock.phase("decide"):
            answer = reach_totals(
                terms, wanted, search.largest, search.schedule, limits, seed_of(rng)
            )
        if answer.schedule is not None:
            search.found(answer.schedule)
        else:
            (search.nogoods if answer.impossible else search.undecided).append(nogood)
    return bool(waiting) and not (search.undecided or search.over)


def _slot_by_slot(search: _Search, rng: np.random.Generator) -> None:
    """Run Algorithm 1 on concave envelopes, with slots solved greedily and by Algorithm 2."""
    from ..algorithms.lp_rs_mde import lp_rs_mde

    terms, clock = search.terms, search.clock

    def greedy(problem: SlotProblem, rng: np.random.Generator, limits: Limits) -> list[Mapping]:
        return slot_greedy(problem)

    def algorithm_2(
        problem: SlotProblem, rng: np.random.Generator, limits: Limits
    ) -> list[Mapping]:
        return lp_rs_mde(problem, limits, rng)

    tables = [envelope(job.utility) for job in terms.jobs]
    for solver in (greedy, algorithm_2):
        if search.over:
            break
        with contextlib.suppress(ModelRefused), clock.phase("slot by slot"):
            run = temporal_greedy(
                terms, solver, rng, clock.limits(), tables=tables, largest=search.largest.tolist()
            )
            search.found(Schedule(run.mappings, run.done))


def _search_all_slots(
    search: _Search, instance: GadgetInstance, rng: np.random.Generator, search_s: float
) -> None:
    """Search a model of all slots."""
    # CP-SAT is loaded only where a gap is left.
    from .horizon_search import search_horizon

    terms, limits = search.terms, search.clock.limits(at_most_s=search_s)
    found = MethodOutcome()
    with contextlib.suppress(ModelRefused), search.clock.phase("search"):
        found = search_horizon(instance, limits, rng, search.schedule.mappings, float(search.bound))
    search.versions.update(found.versions)
    if found.dual_bound is not None:
        search.prove(float(found.dual_bound))
    if not isinstance(found.solution, GadgetSolution):
        return
    done = np.zeros(len(terms.jobs), dtype=np.int64)
    for placed in found.solution.rings:
        done[placed.job] += len(placed.servers)
    search.offer(worth(terms, done), found.solution)


def _without_tails(terms: Terms, target: Ints) -> Ints:
    """Lower totals by what brings next to nothing."""
    out = target.copy()
    for job in terms.jobs:
        u, k = job.utility, int(target[job.index])
        enough = u[k] - TAIL * (u[k] - u[0])
        out[job.index] = int(np.searchsorted(u, enough)) if k else 0
    return out
