"""Offline optimum over all slots: relaxations, schedules of their totals, cuts and search.

The epoch relaxation, which ignores bandwidth, gives a total of worker-slots for every job. If the
greedy construction finds a schedule with these totals, it is optimal. Where servers or bandwidth
bind it may fail. Then the relaxation by ring counts takes its place, and each epoch's worker-slots
are packed into its slots: if all are, the schedule is optimal. If not, rings are exchanged,
unreachable totals are cut off, and CP-SAT tests if the totals can be reached at all: a schedule
that reaches them is optimal; if there is none, they are forbidden and the relaxation is solved
again. If a gap remains, and on graphs, which have no construction, a model of all slots is
searched, from the best schedule and below the best bound. All steps are (reconstructed).
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.search.watched import watched_stage
from gadgetopt.solvers import seed_of
from gadgetopt.system.data import Certificate
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...algorithms.temporal_greedy import temporal_greedy
from ...heuristics.slot_greedy import slot_greedy
from ...instance import (
    GadgetInstance,
    GadgetSolution,
)
from ...subproblems.hull import envelope
from ...subproblems.max_ring import largest_rings
from ...subproblems.schedule import (
    Schedule,
    as_solution,
)
from ...subproblems.slot_problem import (
    Mapping,
    SlotProblem,
)
from ...terms import Terms
from .construction import (
    construct_repeatedly,
    worth,
)
from .count_relaxation import count_form
from .epoch_bound import prices_of_epochs
from .epoch_cuts import (
    EpochCut,
    Nogood,
    SlotPatterns,
    with_cuts,
)
from .epoch_form import epoch_form
from .epoch_packing import EpochPacking
from .ring_exchange import exchange
from .slot_solver import SlotResult

#: Before the test, totals may be lowered as long as a job loses less than this share of its
#: utility: if even the lower totals cannot be reached, many more are ruled out.
#: Tuned: `benchmarks/constants.py`.
TAIL = 1e-3
#: Exchange moves per slot and job with a total. Tuned: `benchmarks/constants.py`.
MOVES = 50
#: Factor on the time of CP-SAT for postponed totals, when nothing else is left.
#: Tuned: `benchmarks/constants.py`.
PATIENCE = 20.0
#: Part of the time left for one solve of the relaxation by ring counts; what it finds is packed.
#: Tuned: `benchmarks/constants.py`.
COUNT_PART = 0.5
#: Part of the time for the search; in the rest its bound is proved as far as the time goes.
#: Tuned: `benchmarks/constants.py`.
SEARCH_PART = 0.97
#: Seconds for the proof, or this part of those of the search. Tuned: `benchmarks/constants.py`.
PROVE_S, PROVE_PART = 5.0, 0.25
#: Jobs times servers times slots up to which the joint model is written down for a proof.
#: Tuned: `benchmarks/constants.py`.
SMALL = 3_000


class _Search(Search[GadgetSolution]):
    """Search state: incumbent, bound, cuts and no-goods."""

    def __init__(self, terms: Terms, limits: Limits):
        super().__init__("max", limits)
        self.terms = terms
        with self.clock.phase("build"):
            largest = largest_rings(terms)
            self.largest: Ints = np.array(largest, dtype=np.int64)
            self.plain = self.relaxation = epoch_form(terms, largest)
            self.patterns = SlotPatterns(terms, self.relaxation.epochs, largest, _exact_slot)
        #: The formulation whose optimum is the bound, or is closest to it.
        self.model = "epochs"
        #: The incumbent, and the schedule of the last totals.
        self.schedule = self.start = Schedule(
            ((),) * terms.horizon, np.zeros(len(terms.jobs), dtype=np.int64)
        )
        self.cuts: list[EpochCut] = []
        self.nogoods: list[Nogood] = []
        #: Postponed totals, which may or may not be reachable; the bound stays as it is from then
        #: on.
        self.undecided: list[Nogood] = []
        #: Worker-slots of the last relaxation, shape (jobs, epochs).
        self.by_epoch: Ints = np.zeros((len(terms.jobs), 0), dtype=np.int64)
        #: The slots of every epoch, once the relaxation is that by ring counts.
        self.packing: EpochPacking | None = None

    def found(self, made: Schedule) -> None:
        """Take a schedule as incumbent if it is better."""
        if self.offer(worth(self.terms, made.done), as_solution(self.terms, made)):
            self.schedule = made


@method(
    kind="exact",
    reference="epoch relaxation and construction (reconstructed)",
    formulation="epochs",
    backend="highs",
)
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
    count_rings: bool = True,
) -> MethodOutcome:
    """All slots: totals by a relaxation, a schedule that reaches them, or cuts.

    Solve all slots: relax, construct a schedule of the totals, cut them off (reconstructed).

    Parameters
    ----------
    restarts : int
        Further attempts of the construction, with noise.
    rounds : int
        Largest number of relaxations to solve.
    exchange_s, reach_s : float
        Seconds per round for the exchange of rings, and per CP-SAT test of totals; with 0 the step
        is skipped. Totals that are not decided in time are postponed.
    search_s : float
        Seconds for the final search of a model of all slots; with 0 it is skipped.
    count_rings : bool
        If True, the relaxation by ring counts takes the place of the epoch relaxation where the
        first totals are not reached.

    Notes
    -----
    On a graph the warm start is the schedule of Algorithm 1.
    """
    whole = Clock(limits)
    search = _Search(instance.terms, watched_stage(limits, whole.limits(SEARCH_PART)))
    certificate = None
    with search.interruptible():
        if instance.terms.tree is None:
            _relax(search, rng)
            _slot_by_slot(search, rng)
        else:
            counted = instance if count_rings else None
            _reach_totals(search, counted, rng, restarts, rounds, exchange_s, reach_s)
        if search_s > 0 and not search.over:
            _search_all_slots(search, instance, rng, search_s)
        with search.clock.phase("certificate"):
            certificate = _certificate(search, instance, whole)
    outcome = search.outcome(
        search.best,
        cuts=len(search.cuts),
        totals_ruled_out=len(search.nogoods),
        totals_undecided=len(search.undecided),
    )
    return replace(outcome, certificate=certificate, formulation=search.model)


def _certificate(search: _Search, instance: GadgetInstance, clock: Clock) -> Certificate | None:
    """Return a proof of the bound, or of what a part of the search's time suffices for."""
    from .tree_bound import tree_of_bound

    if math.isinf(search.bound):
        return None
    seconds = min(clock.left_s, max(PROVE_S, PROVE_PART * clock.elapsed_s))
    own = Clock(clock.limits(at_most_s=seconds))
    if search.plain is search.relaxation or not search.closed:
        prices = prices_of_epochs(instance, search.plain, float(search.bound), own.limits())
        if prices is not None:
            return prices
    return tree_of_bound(instance, search.model, search.bound, lambda: own.left_s)


def _reach_totals(
    search: _Search,
    counted: GadgetInstance | None,
    rng: np.random.Generator,
    restarts: int,
    rounds: int,
    exchange_s: float,
    reach_s: float,
) -> None:
    """Alternate the relaxation with schedules of its totals, or cuts, until bounds meet.

    If an instance is given, its rings are counted where the first totals are not reached.
    """
    for k in range(rounds):
        target = _relax(search, rng)
        if target is None:
            if reach_s > 0 and _reconsider(search, rng, PATIENCE * reach_s):
                continue
            break
        _construct(search, target, rng, restarts)
        if search.over:
            break
        if k == 0 and counted is not None and _count_rings(search, counted):
            continue
        if search.packing is not None and _pack(search, search.packing, target, rng):
            continue
        if search.over:
            break
        _exchange(search, target, rng, exchange_s)
        if search.over:
            break
        if _separate(search, target, rng):
            continue
        _decide(search, target, rng, reach_s)
        if search.over:
            break


def _count_rings(search: _Search, instance: GadgetInstance) -> bool:
    """Take the relaxation by ring counts from now on; return False if it is too large."""
    terms = search.terms
    with contextlib.suppress(ModelRefused), search.clock.phase("build"):
        search.relaxation = count_form(instance)
        search.packing = EpochPacking(terms, search.relaxation.epochs, search.largest, _exact_slot)
        search.model = "ring_counts"
        return True
    return False


def _pack(search: _Search, packing: EpochPacking, target: Ints, rng: np.random.Generator) -> bool:
    """Pack the worker-slots of the relaxation into slots; return True if there are new cuts."""
    with search.clock.phase("pack"):
        packed = packing.pack(search.by_epoch, target, search.clock.limits(), rng)
    search.found(packed.schedule)
    search.start = packed.schedule
    search.cuts += packed.cuts
    return bool(packed.cuts) and not search.over


def _exact_slot(problem: SlotProblem, limits: Limits, rng: np.random.Generator) -> SlotResult:
    # CP-SAT is loaded only where bandwidth binds.
    from .cp_totals import exact_slot

    return exact_slot(problem, limits, rng)


def _relax(search: _Search, rng: np.random.Generator) -> Ints | None:
    """Solve the relaxation with all cuts and no-goods, and return its totals."""
    from gadgetopt.solvers.highs import solve_form

    with search.clock.phase("relaxation"):
        form = with_cuts(search.relaxation, search.cuts, [*search.nogoods, *search.undecided])
        limits = search.clock.limits(1.0 if search.packing is None else COUNT_PART)
        solved = solve_form(form, limits, seed_of(rng))
    search.versions.update(solved.versions)
    ended = search.clock.expired or solved.limit_hit == "interrupted"
    search.limit_hit = solved.limit_hit if ended else None
    bound = np.inf if solved.bound is None else float(solved.bound)
    if not search.undecided:
        search.prove(bound)
    # With totals postponed: can any other totals be better?
    if solved.values is None or bound <= search.value:
        return None
    jobs = len(search.terms.jobs)
    search.by_epoch = search.relaxation.by_epoch(solved.values, jobs)
    return search.relaxation.totals(solved.values, jobs)


def _construct(search: _Search, target: Ints, rng: np.random.Generator, restarts: int) -> None:
    terms, clock = search.terms, search.clock
    with clock.phase("construct"):
        made = construct_repeatedly(terms, target, search.largest, rng, clock.limits(), restarts)
    search.found(made)
    search.start = made


def _exchange(search: _Search, target: Ints, rng: np.random.Generator, exchange_s: float) -> None:
    """Exchange rings of the last schedule, and keep its slots as patterns."""
    terms, clock, made = search.terms, search.clock, search.start
    with clock.phase("exchange"):
        if exchange_s > 0:
            moves = MOVES * terms.horizon * int((target > 0).sum())
            limits = clock.limits(at_most_s=exchange_s)
            made = exchange(terms, target, search.largest, made, rng, limits, moves)
            search.found(made)
        search.patterns.add_schedule(made.mappings)
    search.start = made


def _separate(search: _Search, target: Ints, rng: np.random.Generator) -> bool:
    """Separate a cut that the totals violate; return True if there is one."""
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
    """Test if the totals, or slightly lower ones, can be reached; if not, forbid them."""
    from .cp_totals import (
        Reached,
        reach_totals,
    )

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
    """Test the postponed totals again; return True if all were decided."""
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
    from ...algorithms.lp_rs_mde import lp_rs_mde

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
    """Search a model of all slots from the incumbent."""
    # CP-SAT is loaded only where a gap is left.
    from .horizon_search import search_horizon

    terms, limits = search.terms, search.clock.limits(at_most_s=search_s)
    found = MethodOutcome()
    with contextlib.suppress(ModelRefused), search.clock.phase("search"):
        found = search_horizon(instance, limits, rng, search.schedule.mappings, float(search.bound))
    search.versions.update(found.versions)
    small = terms.horizon * len(terms.jobs) * len(terms.servers) <= SMALL
    if found.dual_bound is not None and search.prove(float(found.dual_bound)) and small:
        search.model = "circulation" if terms.tree is None else "tree"
    if not isinstance(found.solution, GadgetSolution):
        return
    done = np.zeros(len(terms.jobs), dtype=np.int64)
    for placed in found.solution.rings:
        done[placed.job] += len(placed.servers)
    search.offer(worth(terms, done), found.solution)


def _without_tails(terms: Terms, target: Ints) -> Ints:
    """Lower totals by worker-slots that gain next to nothing."""
    out = target.copy()
    for job in terms.jobs:
        u, k = job.utility, int(target[job.index])
        enough = u[k] - TAIL * (u[k] - u[0])
        out[job.index] = int(np.searchsorted(u, enough)) if k else 0
    return out
