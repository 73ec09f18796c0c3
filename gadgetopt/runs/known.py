"""What a store knows of an instance: the best objective and the best bounds, by which methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gadgetopt.numbers.tolerance import agrees, closes
from gadgetopt.runs.comparison import plain
from gadgetopt.runs.store import Store
from gadgetopt.system.files import Document
from gadgetopt.system.registry import sense_of
from gadgetopt.system.result import Result, Status, Voucher
from gadgetopt.trust.infeasibility import Infeasible, proved_infeasible, status_voucher
from gadgetopt.trust.ratio import cross_examine

_RUNS = "SELECT key FROM runs WHERE problem = ? AND fingerprint = ? ORDER BY position"


@dataclass(frozen=True)
class Known:
    """What all runs of a store on one instance know together.

    Attributes
    ----------
    runs, errors : int
        Runs on the instance, and those of them that are errors; methods that do not support it have
        none.
    methods : int
        Methods that made them.
    best : Result or None
        The run with the best solution.
    bound : Result or None
        The run with the best bound, that of the strongest voucher if several have it.
    verified : Result or None
        The run with the best verified bound, where that is weaker than the best bound.
    infeasible : Infeasible or None
        The proof that there is no solution.
    unbounded : Result or None
        The run that says, with the strongest voucher, that there is no best solution.
    """

    runs: int
    errors: int
    methods: int
    best: Result | None
    bound: Result | None
    verified: Result | None
    infeasible: Infeasible | None
    unbounded: Result | None

    @property
    def optimal(self) -> bool:
        """True if the best objective is the optimum, as a run says or the best bound shows."""
        if self.best is None or self.best.objective is None:
            return False
        if self.best.status is Status.OPTIMAL:
            return True
        bound = None if self.bound is None else self.bound.bound
        return bound is not None and closes(self.best.objective, bound, integral=False)

    def as_json(self) -> dict[str, Any]:
        """Return it with the methods' names, and numbers as JSON can represent them."""
        best, bound, verified = self.best, self.bound, self.verified
        hopeless, endless = self.infeasible, self.unbounded
        return {
            "runs": self.runs,
            "errors": self.errors,
            "methods": self.methods,
            "objective": None if best is None else plain(best.objective),
            "objective_method": None if best is None else best.method,
            "optimal": self.optimal,
            "bound": None if bound is None else plain(bound.bound),
            "bound_voucher": None if bound is None else str(bound.bound_voucher),
            "bound_method": None if bound is None else bound.method,
            "verified_bound": None if verified is None else plain(verified.bound),
            "verified_bound_method": None if verified is None else verified.method,
            "infeasible": None if hopeless is None else hopeless.why or "no solution",
            "infeasible_voucher": None if hopeless is None else str(hopeless.voucher),
            "infeasible_method": None if hopeless is None else hopeless.method,
            "unbounded_voucher": None if endless is None else str(status_voucher(endless)),
            "unbounded_method": None if endless is None else endless.method,
        }


def known(store: Store, instance: Document[Any]) -> Known:
    """Return what the runs of a store know of an instance, after they were compared."""
    keys = [row["key"] for row in store.query(_RUNS, (instance.problem.name, instance.fingerprint))]
    found = [run.result for run in store.runs_of(keys).values()]
    results = cross_examine([r for r in found if not r.refused], sense_of)
    minimise = instance.sense == "min"
    bound = _strongest_bound(results, minimise)
    proved = [r for r in results if r.bound_voucher is Voucher.VERIFIED]
    verified = _strongest_bound(proved, minimise)
    if bound is not None and bound.bound_voucher is Voucher.VERIFIED:
        verified = None
    hopeless = proved_infeasible(results)
    endless = [r for r in results if r.status is Status.UNBOUNDED]
    return Known(
        runs=len(results),
        errors=sum(r.status is Status.ERROR for r in results),
        methods=len({r.method for r in results}),
        best=_best_solution(results, minimise),
        bound=bound,
        verified=verified,
        infeasible=hopeless.get((instance.problem.name, instance.fingerprint)),
        unbounded=max(endless, key=lambda r: _strength(status_voucher(r)), default=None),
    )


def _best_solution(results: Sequence[Result], minimise: bool) -> Result | None:
    """Return the run with the best solution; of equal ones that which proves it, else the first."""
    values = [r.objective for r in results if r.objective is not None]
    if not values:
        return None
    best = min(values) if minimise else max(values)
    as_good = [r for r in results if r.objective is not None and r.objective == best]
    return max(as_good, key=lambda r: r.status is Status.OPTIMAL)


def _strongest_bound(results: Sequence[Result], minimise: bool) -> Result | None:
    bounds = [(r.bound, r) for r in results if r.bound is not None]
    if not bounds:
        return None
    values = [value for value, _ in bounds]
    best = max(values) if minimise else min(values)
    as_good = [r for value, r in bounds if agrees(value, best)]
    return max(as_good, key=lambda r: _strength(r.bound_voucher))


def _strength(voucher: Voucher | None) -> int:
    return list(Voucher).index(voucher or Voucher.SOLVER)
