"""What a run is worth: its solution evaluated, its claims compared, its status decided."""

from __future__ import annotations

import math
from fractions import Fraction

from gadgetopt.errors import failure
from gadgetopt.numbers.text import show, show_apart
from gadgetopt.numbers.tolerance import CLOSED_GAP, Number, closes, exceeds, is_finite, refutes
from gadgetopt.search.alarm import TimeUp, ended_after
from gadgetopt.search.clock import Clock
from gadgetopt.search.stopping import NO_IMPROVEMENT, TARGET
from gadgetopt.system.data import ModelProof
from gadgetopt.system.declaration import Method, Problem
from gadgetopt.system.files import Document
from gadgetopt.system.methods import MethodCall
from gadgetopt.system.result import (
    OWN_LIMIT,
    Evaluation,
    Limits,
    MethodOutcome,
    Result,
    Status,
    TracePoint,
    Voucher,
)
from gadgetopt.trust.certificate import certified_bound, is_infinite, shortened
from gadgetopt.trust.infeasibility import NOTE, UNBOUNDED, beyond_limit, status_proved
from gadgetopt.trust.proving import (
    PROOF,
    WITHDRAWN,
    may_replace_claim,
    proof_notes,
    why_none,
)


def judge(
    document: Document,
    call: MethodCall,
    outcome: MethodOutcome,
    limits: Limits,
    seed: int,
    time_s: float,
    reason: str | None = None,
    *,
    clock: Clock | None = None,
) -> Result:
    """Turn an outcome into a result: evaluate the solution, compare claims, decide the status.

    Whatever a method says of itself, `verified` is what the check of a certificate gives here. A
    check for which the clock leaves no time is ended: the bound then stays the solver's word.
    """
    problem = document.problem
    evaluation = None
    if outcome.solution is not None:
        try:
            evaluation = problem.evaluate(document.data, outcome.solution)
        except Exception as error:  # a method may return anything
            reason = f"the solution cannot be evaluated: {failure(error)}"
    reason = reason or _nonsense(outcome)
    outcome.voucher = Voucher.SOLVER  # whatever the method wrote there
    if reason is None and outcome.proved is not None:
        outcome.proved = Status(outcome.proved)  # a method may write the word
    true = evaluation.objective if evaluation is not None and evaluation.feasible else None
    if reason is None and outcome.certificate is not None:
        reason = _rely_on_certificate(document, outcome, true, clock or Clock())
    if reason is None:
        _withdraw_rounded_bound(problem, outcome, true)
    reason = reason or _contradiction(problem, outcome, evaluation)
    objective = true
    if reason is not None:
        status, objective, bound = Status.ERROR, None, None
    else:
        bound = _loosened(problem, _finite(outcome.dual_bound), objective)
        status = _status(problem, outcome, objective, bound)
    notes = {name: x for name, x in outcome.notes.items() if name not in (NOTE, UNBOUNDED)}
    if status in (Status.INFEASIBLE, Status.UNBOUNDED) and outcome.certificate is not None:
        settled = status_proved(outcome.certificate, math.inf) if bound is None else None
        notes |= {} if settled is None else settled[1]
    why = beyond_limit(problem, document, bound) if objective is None else ""
    if why:
        status, notes[NOTE] = Status.INFEASIBLE, why
    return Result(
        problem=problem.name,
        instance=document.name,
        fingerprint=document.fingerprint,
        method=call.label,
        kind=call.method.kind,
        parameters=call.all_parameters,
        formulation=outcome.formulation or call.method.formulation,
        backend=call.method.backend,
        status=status,
        objective=objective,
        claimed_objective=None if reason is not None else outcome.claimed_objective,
        bound=bound,
        bound_voucher=None if bound is None else outcome.voucher,
        gap=relative_gap(objective, bound),
        limit_hit=_limit_hit(call.method, outcome, status, relative_gap(objective, bound), limits),
        time_s=time_s,
        seed=seed if call.method.stochastic else None,
        solution=outcome.solution,
        certificate=None if reason is not None else outcome.certificate,
        evaluation=evaluation,
        reason=reason,
        trace=_complete(outcome, objective, time_s),
        phases_s=outcome.phases_s,
        versions=outcome.versions,
        notes=notes,
        sense=document.sense,
    )


def relative_gap(objective: Number | None, bound: Number | None) -> float | None:
    """Return |objective - bound| / |objective|, with 1e-10 for an objective of 0; 0 if equal."""
    if objective is None or bound is None or is_infinite(bound):
        return None
    if objective == bound:
        return 0.0
    try:
        return abs(float(objective - bound)) / (abs(float(objective)) or 1e-10)
    except OverflowError:  # exact numbers beyond the range of doubles
        return None


def _rely_on_certificate(
    document: Document, outcome: MethodOutcome, objective: Number | None, clock: Clock
) -> str | None:
    """Replace the bound by the one its certificate proves; return a reason if none.

    A proof about a model, or of a search, may prove less than the bound, which then stays a
    solver's word, as it does if the check takes more time than there is.
    """
    problem, certificate = document.problem, outcome.certificate
    assert certificate is not None
    alarm = ended_after(clock.left_s)
    try:
        with alarm:
            proved = certified_bound(problem, document.data, certificate)
    except TimeUp:
        if not alarm.rang:  # of whoever judges
            raise
        outcome.voucher = Voucher.SOLVER
        why = f"its check was stopped after {clock.elapsed_s:.1f} s, at the end of the run's time"
        outcome.notes = {**outcome.notes, "proof": {"refused": why}}
        if outcome.dual_bound is None:  # there is only what the check would have proved
            outcome.limit_hit = outcome.limit_hit or "time_s"
        return None
    except Exception as error:  # a method may return anything
        if isinstance(certificate, ModelProof):  # the bound stays as good as its claim
            outcome.certificate = None
            outcome.notes = {**outcome.notes, PROOF: why_none(error)}
            return None
        return f"the certificate cannot be checked: {failure(error)}"
    claimed = outcome.dual_bound
    if proved is None:
        return "the certificate proves no bound"
    settled = status_proved(certificate, proved)
    if settled is not None and isinstance(certificate, ModelProof):
        return _rely_on_status(outcome, certificate, settled[0], objective)
    if isinstance(certificate, ModelProof):
        outcome.notes = {**outcome.notes, PROOF: proof_notes(certificate, proved)}
        if not may_replace_claim(problem, proved, claimed, objective):
            return None
        outcome.dual_bound, outcome.voucher = proved, Voucher.VERIFIED
        return None
    if certificate.may_prove_less and not may_replace_claim(problem, proved, claimed, objective):
        outcome.certificate = None
        outcome.notes = {**outcome.notes, PROOF: {"bound": show(proved)}}
        return None
    exact = not certificate.may_prove_less
    if exact and claimed is not None and _better(problem, proved, shortened(problem, claimed)):
        said, shown = show_apart(claimed, proved)
        return f"claimed dual bound {said}, but its certificate proves {shown}"
    outcome.dual_bound, outcome.voucher = proved, Voucher.VERIFIED
    return None


def _rely_on_status(
    outcome: MethodOutcome, certificate: ModelProof, status: Status, objective: Number | None
) -> str | None:
    """Take over that there is no solution, or no optimum, as a proof shows."""
    if objective is not None:
        return f"its proof says {status}, but its solution is feasible"
    outcome.proved, outcome.dual_bound = status, None
    outcome.notes = {**outcome.notes, PROOF: proof_notes(certificate, math.inf)}
    return None


def _nonsense(outcome: MethodOutcome) -> str | None:
    """Return what in an outcome is not a number or not a proof, if anything."""
    named = {"objective": outcome.claimed_objective, "dual bound": outcome.dual_bound}
    for what, value in named.items():
        if isinstance(value, float) and math.isnan(value):
            return f"claimed {what} nan, which is not a number"
    if outcome.proved not in (None, Status.INFEASIBLE, Status.UNBOUNDED):
        return f"claimed to have proved {outcome.proved}, which takes a solution and a bound"
    if outcome.voucher == Voucher.CROSS_CHECKED:
        return f"claimed the voucher {outcome.voucher}, which only a comparison of runs gives"
    return None


def _finite(bound: Number | None) -> Number | None:
    """Return a bound, or None if it is infinite."""
    return None if isinstance(bound, float) and math.isinf(bound) else bound


def _contradiction(
    problem: Problem, outcome: MethodOutcome, evaluation: Evaluation | None
) -> str | None:
    """Return what in an outcome cannot be true, if anything."""
    if evaluation is None:
        return None
    if not evaluation.feasible:
        first, *rest = evaluation.violations
        more = f" (and {len(rest)} more)" if rest else ""
        return f"the solution is infeasible: {first}{more}"
    if evaluation.objective is None:
        return "the evaluator finds no objective for the solution"
    if outcome.proved is not None:
        return f"claimed {outcome.proved}, but its solution is feasible"
    claimed, true, bound = outcome.claimed_objective, evaluation.objective, outcome.dual_bound
    # A solver may include slack that the decision does not need, so a decision may be better than
    # claimed, but never worse.
    if claimed is not None and _better(problem, claimed, true):
        said, shown = show_apart(claimed, true)
        return f"claimed objective {said}, but its solution has {shown}"
    if bound is not None and refutes(true, bound, minimise=problem.sense == "min"):
        said, shown = show_apart(bound, true)
        return f"claimed dual bound {said}, but its own solution has {shown}"
    return None


def _withdraw_rounded_bound(
    problem: Problem, outcome: MethodOutcome, objective: Number | None
) -> None:
    """Take back a bound, and its certificate, that is past its own solution by rounding only.

    Coefficients that went through doubles on their way into a model make such a bound, however
    exactly it was proved for the model.
    """
    bound = outcome.dual_bound
    if bound is None or objective is None or problem.integral_objective:
        return
    if not (is_finite(bound) and is_finite(objective)):
        return
    apart = abs(Fraction(bound) - Fraction(objective))
    if apart > Fraction(CLOSED_GAP) * abs(Fraction(objective)):
        return
    if refutes(objective, bound, minimise=problem.sense == "min"):
        said, shown = show_apart(bound, objective)
        why = f"{said} is past the value {shown} of its own solution, by rounding"
        outcome.dual_bound, outcome.certificate, outcome.voucher = None, None, Voucher.SOLVER
        outcome.notes = {**outcome.notes, WITHDRAWN: why}


def _better(problem: Problem, a: Number, b: Number) -> bool:
    """Return True if objective `a` is better than `b` beyond doubt."""
    return exceeds(b, a) if problem.sense == "min" else exceeds(a, b)


def _loosened(problem: Problem, bound: Number | None, objective: Number | None) -> Number | None:
    """Return 0, a weaker bound, for a bound that exceeds an objective of 0 by rounding only."""
    if not isinstance(bound, float) or objective != 0:
        return bound
    return min(bound, 0.0) if problem.sense == "min" else max(bound, 0.0)


def _status(
    problem: Problem,
    outcome: MethodOutcome,
    objective: Number | None,
    bound: Number | None,
) -> Status:
    if objective is None:
        return outcome.proved or Status.NO_SOLUTION
    if bound is None:
        return Status.FEASIBLE
    closed = closes(objective, bound, integral=problem.integral_objective)
    return Status.OPTIMAL if closed else Status.FEASIBLE


def _limit_hit(
    method: Method, outcome: MethodOutcome, status: Status, gap: float | None, limits: Limits
) -> str | None:
    """Return the limit that stopped a run; a requested gap that is still open counts as one.

    Only exact methods stop there; that a heuristic's bound is so near is chance. An exact method
    that leaves a gap for no limit that was set ended by one of its own.
    """
    asked_to_stop = ("gap", "interrupted", NO_IMPROVEMENT, TARGET)
    if status is Status.OPTIMAL and outcome.limit_hit in asked_to_stop:
        return None  # closed all the same
    if outcome.limit_hit or method.kind != "exact" or status is not Status.FEASIBLE or gap is None:
        return outcome.limit_hit
    return "gap" if gap <= limits.rel_gap else OWN_LIMIT


def _complete(
    outcome: MethodOutcome, objective: Number | None, time_s: float
) -> tuple[TracePoint, ...]:
    """Return the trace, completed by the final objective and bound."""
    end = TracePoint(time_s, objective, _finite(outcome.dual_bound))
    return (*outcome.trace, end)
