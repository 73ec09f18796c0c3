"""That an instance has no solution, or no optimum: who proved it, and who vouches for that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from gadgetopt.numbers.tolerance import Number, exceeds
from gadgetopt.system.data import Certificate, ModelProof
from gadgetopt.system.declaration import Problem
from gadgetopt.system.files import Document
from gadgetopt.system.result import Result, Status, Voucher
from gadgetopt.trust.certificate import is_infinite

#: The notes that say why an instance is infeasible, or unbounded. Only the toolkit writes them.
NOTE, UNBOUNDED = "infeasible", "unbounded"


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
    """Return who vouches for a result that claims infeasibility, from what it knows itself.

    A bound beyond what a solution may have proves it as well as the bound is proved; without a
    bound the note says that a proof of it was checked.
    """
    return result.bound_voucher or Voucher.VERIFIED if NOTE in result.notes else Voucher.SOLVER


def status_voucher(result: Result) -> Voucher | None:
    """Return who vouches that there is no solution, or no optimum; None of other results."""
    if result.status is Status.INFEASIBLE:
        return infeasible_voucher(result)
    if result.status is Status.UNBOUNDED:
        return Voucher.VERIFIED if UNBOUNDED in result.notes else Voucher.SOLVER
    return None


def is_verified(result: Result) -> bool:
    """Return True if a result's bound is proved, or that there is no solution or no optimum."""
    return (status_voucher(result) or result.bound_voucher) is Voucher.VERIFIED


def status_of(bound: Number, sense: str) -> Status | None:
    """Return what an infinite optimum says; None of a finite one."""
    if not is_infinite(bound):
        return None
    return Status.INFEASIBLE if (bound > 0) == (sense == "min") else Status.UNBOUNDED


def status_proved(certificate: Certificate, proved: Number) -> tuple[Status, dict[str, str]] | None:
    """Return the status that an infinite bound proves, and its note; None of a finite bound."""
    if not isinstance(certificate, ModelProof) or not is_infinite(proved):
        return None
    if certificate.kind == "ray":
        why = f"a point and a ray of {certificate.formulation} are proved"
        return Status.UNBOUNDED, {UNBOUNDED: why}
    why = f"a proof leaves no case of {certificate.formulation} feasible"
    return Status.INFEASIBLE, {NOTE: why}


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
