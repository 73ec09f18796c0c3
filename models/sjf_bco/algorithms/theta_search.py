"""Search for the load limit theta: the outer loop of Algorithm 1, and two variants.

Few limits need a run of their own. The following shortcuts do not change any result.

* Let U_max be the largest load of a run at limit theta. At any limit in [U_max, theta] the GPUs it
  chose are still within the limit, the GPUs it skipped for lack of room are still skipped, and it
  waits for the same completions. So the run is the same, and so is a failure. Such limits are
  answered from memory.
* A limit below the jobs' total load over all GPUs fails without a run.
* A run of makespan M has U_max <= M, since est_j / u never exceeds the execution time of job j. A
  bisection needs only the smallest makespan at a theta. So once a variant has reached M, the next
  variant may run with limit M instead of a larger theta: the two runs are the same if one of them
  has makespan at most M. All theta above M thus share one run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ..subproblems.placement import Batch, Run, solution_of

ThetaSearch = Literal["literal", "feasible", "sweep"]

#: Runs a variant (a kappa) at a limit in load units.
MakeRun = Callable[[int], Run]


@dataclass
class Search:
    """Search state: runs so far, the incumbent, and the probes.

    Attributes
    ----------
    best_makespan : int
        The incumbent m of Algorithm 1, initially the horizon T: makespan T is never accepted.
    probes : list of dict
        For each theta tried, the best makespan over the variants; T if none placed all jobs.
    runs : int
        Number of runs actually made.
    """

    batch: Batch
    variants: dict[int, MakeRun]
    limits: Limits
    best_makespan: int = field(init=False)
    best: Run | None = None
    best_variant: int | None = None
    best_theta: float | None = None
    probes: list[dict[str, Any]] = field(default_factory=list)
    runs: int = 0
    limit_hit: str | None = None

    def __post_init__(self) -> None:
        self.best_makespan = self.batch.instance.horizon_slots
        self._clock = Clock(self.limits)
        # Runs per variant: (U_max, limit, all jobs placed, makespan).
        self._known: dict[int, list[tuple[int, int, bool, int | None]]] = {
            v: [] for v in self.variants
        }

    def probe(
        self, variant: int, limit: int, *, below: int, at_most: int | None = None
    ) -> tuple[bool, int | None, int]:
        """Return (all jobs placed, makespan, largest load) at a limit.

        The run becomes the incumbent if its makespan is below `below`. With `at_most`, only smaller
        makespans are exact: a larger one may be that of another run that also exceeds `at_most`.
        """
        lowered = limit if at_most is None else min(limit, self.batch.limit(at_most))
        if not self.batch.fits(lowered):
            return False, None, lowered
        for low, high, placed, makespan in self._known[variant]:
            if low <= lowered <= high:
                return placed, makespan, low
        run = self.variants[variant](lowered)
        self.runs += 1
        self._known[variant].append((run.max_load, lowered, run.placed, run.makespan))
        self.consider(run, variant, limit, below=below)
        return run.placed, run.makespan, run.max_load

    def consider(self, run: Run, variant: int, limit: int, *, below: int) -> None:
        """Keep the run as incumbent if its makespan is smaller than `below`."""
        if run.makespan is not None and run.makespan < below:
            self.best_makespan, self.best = run.makespan, run
            self.best_variant = variant
            self.best_theta = float(self.batch.theta(min(limit, self.batch.unlimited)))

    def out_of_time(self) -> bool:
        """Return True if the time limit has passed; a search stops between two runs."""
        if self._clock.expired:
            self.limit_hit = "time_s"
        return self.limit_hit is not None

    def outcome(self, variant_name: str | None) -> MethodOutcome:
        """Return the best schedule found."""
        notes: dict[str, Any] = {"probes": self.probes, "runs": self.runs}
        seconds = {"search": self._clock.elapsed_s}
        if self.best is None:
            horizon = self.batch.instance.horizon_slots
            notes["no_schedule"] = (
                f"no schedule with makespan < horizon_slots ({horizon}); raise horizon_slots"
            )
            return MethodOutcome(limit_hit=self.limit_hit, notes=notes, phases_s=seconds)
        notes["theta"] = self.best_theta
        if variant_name is not None:
            notes[variant_name] = self.best_variant
        return MethodOutcome(
            solution=solution_of(self.batch, self.best),
            claimed_objective=self.best_makespan,
            limit_hit=self.limit_hit,
            notes=notes,
            phases_s=seconds,
        )


def search_theta(search: Search, theta_search: ThetaSearch) -> None:
    """Search theta by the given strategy; the result is stored in `search`."""
    if theta_search == "sweep":
        _sweep(search)
    elif theta_search in ("literal", "feasible"):
        _bisect(search, to_feasible=theta_search == "feasible")
    else:
        raise ValueError(
            f"theta_search: {theta_search!r} is not one of 'literal', 'feasible', 'sweep'"
        )


def _bisect(search: Search, *, to_feasible: bool) -> None:
    """Bisect the integers 1..T (Algorithm 1, lines 2-27).

    The paper moves to smaller theta if the makespan improved. With `to_feasible` the search does so
    if some variant placed all jobs (reconstructed).
    """
    left, right = 1, search.batch.instance.horizon_slots
    while left <= right:
        theta = (left + right) // 2
        incumbent = search.best_makespan
        tried = _try_variants(search, theta, need_feasible=to_feasible)
        if tried is None:
            return
        best_here, feasible = tried
        search.probes.append({"theta": theta, "makespan": best_here})
        go_left = feasible if to_feasible else best_here < incumbent
        if go_left:
            right = theta - 1
        else:
            left = theta + 1


def _try_variants(search: Search, theta: int, *, need_feasible: bool) -> tuple[int, bool] | None:
    """Return the smallest makespan at theta (T if none), and True if some variant placed all jobs.

    The second value is exact only with `need_feasible`. None if time is up. Variants are tried from
    the largest kappa down, since kappa = n_g is mostly the best and limits the others; ties go to
    the smaller kappa.
    """
    incumbent = search.best_makespan
    best_here = search.batch.instance.horizon_slots
    feasible = False
    for variant in reversed(search.variants):
        if search.out_of_time():
            return None
        # A makespan beyond the incumbent or T matters only as a sign of feasibility.
        at_most = None if need_feasible and not feasible else best_here
        below = min(incumbent, best_here + 1)
        placed, makespan, _ = search.probe(
            variant, search.batch.limit(theta), below=below, at_most=at_most
        )
        feasible = feasible or placed
        if makespan is not None:
            best_here = min(best_here, makespan)
    return best_here, feasible


def _sweep(search: Search) -> None:
    """Try every theta that makes a difference, from infinity down to the first failure.

    A run with largest load U_max stays the same for every theta from U_max up, so the next theta is
    just below U_max (reconstructed).
    """
    for variant in search.variants:
        limit = search.batch.unlimited
        placed = True
        while placed and not search.out_of_time():
            placed, makespan, max_load = search.probe(variant, limit, below=search.best_makespan)
            if placed:
                theta = float(search.batch.theta(max_load))
                search.probes.append({"variant": variant, "theta": theta, "makespan": makespan})
            limit = max_load - 1
