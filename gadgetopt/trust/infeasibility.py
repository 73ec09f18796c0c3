"""That an instance has no solution: who proved it, and who vouches for that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from gadgetopt.numbers.tolerance import Number, exceeds
from gadgetopt.system.declaration import Problem
from gadgetopt.system.files import Document
from gadgetopt.system.result import Result, Status, Voucher

#: The note that says why a bound proves infeasibility. Only the toolkit writes it.
NOTE = "infeasible"


@dataclass(frozen=True)
class Infeasible:
    """The proof that an instance has no solution.

    Attributes
    ----------
    method : str
        The method that proved it.
    voucher : Voucher
        As good as the dual bound that proves it; else a solver's word, cross-checked if an
        independent method says the same.
    why : str
        The bound beside what a solution may have at most; empty if no bound proves it.
    """

    method: str
    voucher: Voucher
    why: str = ""


def beyond_limit(problem: Problem, document: Document, bound: Number | None) -> str:
    """Return why a dual bound proves that there is no solution; empty if it does not."""
    if bound is None or not problem.objective_limit:
        return ""
    limit = getattr(document.data, problem.objective_limit)
    minimise = problem.sense == "min"
    if not (exceeds(bound, limit) if minimise else exceeds(limit, bound)):
        return ""
    least = "least" if minimise else "most"
    return (
        f"{problem.objective} is at {least} {_grouped(bound)}, but {problem.objective_limit} is "
        f"{_grouped(limit)}"
    )


def proved_infeasible(results: Iterable[Result]) -> dict[tuple[str, str], Infeasible]:
    """Return the best proof of infeasibility by system and fingerprint of the instance."""
    claims: defaultdict[tuple[str, str], list[Result]] = defaultdict(list)
    for result in results:
        if result.status is Status.INFEASIBLE:
            claims[result.problem, result.fingerprint].append(result)
    return {where: _best(own) for where, own in claims.items()}


def infeasible_voucher(result: Result) -> Voucher:
    """Return who vouches for a result that claims infeasibility, from what it knows itself."""
    proved_by_bound = NOTE in result.notes and result.bound_voucher is not None
    return result.bound_voucher or Voucher.SOLVER if proved_by_bound else Voucher.SOLVER


def _best(claims: list[Result]) -> Infeasible:
    strength = list(Voucher)

    def rank(result: Result) -> tuple[int, bool]:
        return strength.index(infeasible_voucher(result)), result.kind == "exact"

    best = max(claims, key=rank)
    voucher = infeasible_voucher(best)
    independent = len({(r.formulation, r.backend) for r in claims}) > 1
    if voucher is Voucher.SOLVER and independent:
        voucher = Voucher.CROSS_CHECKED
    return Infeasible(best.method, voucher, str(best.notes.get(NOTE, "")))


def _grouped(x: Number) -> str:
    return f"{x:,}" if isinstance(x, int) else f"{float(x):,.6g}"
