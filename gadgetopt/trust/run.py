"""Run one method on one instance and check everything that it claims."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np

from gadgetopt.errors import BoundRefuted, InputError, ModelRefused, SolverError, failure
from gadgetopt.numbers.tolerance import (
    Number,
    closes,
    exceeds,
    refutes,
)
from gadgetopt.search.clock import Clock
from gadgetopt.system.data import ModelProof, Solution
from gadgetopt.system.declaration import Method, Problem, resolved
from gadgetopt.system.extension import as_method
from gadgetopt.system.files import Document
from gadgetopt.system.methods import MethodCall, find_method
from gadgetopt.system.result import (
    Evaluation,
    Limits,
    MethodOutcome,
    Result,
    Status,
    TracePoint,
    Voucher,
)
from gadgetopt.trust.certificate import certified_bound, shortened
from gadgetopt.trust.proving import add_root_proof, stands_for, told_of

#: Larger integers are printed with six significant digits, too.
LONG = 10**21


def solve(
    document: Document,
    method: MethodCall | str | Callable[..., Any],
    limits: Limits | None = None,
    seed: int = 0,
) -> Result:
    """Run a method on an instance; re-evaluate its solution and check its claims.

    The method runs in this process and must respect the limits itself; the commands `solve` and
    `compare` run it in a separate process that enforces them.

    Parameters
    ----------
    document : Document
        An instance, as `gadgetopt.read` returns it.
    method : str, MethodCall or callable
        `name` or `name:key=value:...`; or a function of yours, as `gadgetopt.method` takes it.
    limits : Limits, optional
        Default: no time limit, one thread, relative gap 0.
    seed : int
        Seed of the method's random generator and of the solvers.

    Returns
    -------
    Result
        A method that raises, or makes a false claim, gives the status `error` and a `reason`.

    Raises
    ------
    InputError
        If the problem has no such method, or the method no such parameter.
    """
    problem = document.problem
    limits = limits or Limits()
    call = _call(problem, method)
    warm_up(problem, call.method, document.data)
    result = conclude(document, call, limits, seed, attempt(document, call, limits, seed))
    return replace(result, document=document)


def _call(problem: Problem, method: MethodCall | str | Callable[..., Any]) -> MethodCall:
    if isinstance(method, MethodCall):
        return method
    if isinstance(method, str):
        return find_method(problem, method)
    system, declared = as_method(method)
    if system not in ("", problem.name):
        raise InputError(f"method {declared.name!r}: is of {system}, expected {problem.name}")
    return MethodCall(declared)


@dataclass(frozen=True)
class Attempt:
    """The unchecked outcome of a method, or the reason why there is none.

    Attributes
    ----------
    reason : str or None
        Why the method did not finish.
    refused : bool
        True if the reason is that the method does not support the instance.
    """

    outcome: MethodOutcome
    time_s: float
    reason: str | None = None
    refused: bool = False


def attempt(document: Document, call: MethodCall, limits: Limits, seed: int) -> Attempt:
    """Run a method; whatever it raises becomes a reason."""
    clock = Clock()
    outcome, reason, refused = MethodOutcome(), None, False
    try:
        rng = np.random.default_rng(seed)
        outcome = call.method.run(document.data, limits, rng, **call.parameters)
    except ModelRefused as error:
        return Attempt(outcome, 0.0, str(error), refused=True)
    except (InputError, SolverError) as error:
        reason = str(error)
    except KeyboardInterrupt:
        outcome = MethodOutcome(limit_hit="interrupted")
    except BaseException as error:  # any failure of a method, even sys.exit, is that run's result
        reason = failure(error)
    if outcome is None or isinstance(outcome, Solution):
        outcome = MethodOutcome(solution=outcome)
    if not isinstance(outcome, MethodOutcome):
        what = "a Solution, None or a MethodOutcome"
        reason = f"returned {type(outcome).__name__}, expected {what}"
        outcome = MethodOutcome()
    time_s = clock.elapsed_s
    if clock.interrupted and outcome.proved is None and outcome.limit_hit in (None, "time_s"):
        outcome.limit_hit = "interrupted"
    if outcome.further_notes is not None and reason is None:
        with contextlib.suppress(Exception, KeyboardInterrupt):  # the result stands without them
            outcome.notes = {**outcome.notes, **outcome.further_notes()}
    return Attempt(outcome, time_s, reason, refused)


def conclude(
    document: Document, call: MethodCall, limits: Limits, seed: int, made: Attempt
) -> Result:
    """Turn an attempt into a result; never fails, whatever the method returned."""
    if made.reason is None:
        add_root_proof(document, call, made.outcome)
    try:
        result = judge(document, call, made.outcome, limits, seed, made.time_s, made.reason)
    except Exception as error:
        reason = f"its outcome cannot be judged: {failure(error)}"
        result = judge(document, call, MethodOutcome(), limits, seed, made.time_s, reason)
    return replace(result, refused=made.refused)


def warm_up(problem: Problem, method: Method, instance: Any = None) -> None:
    """Import and compile what a method needs on an instance, so that it does not count as time."""
    builds = [f.build for f in problem.formulations if f.name == method.formulation]
    for part in (method.run, *builds):
        resolved(part)
    if method.backend is not None:
        from gadgetopt.solvers import import_backend

        with contextlib.suppress(InputError):  # the run itself will report what is missing
            import_backend(method.backend)
    if method.prepare is not None and instance is not None:
        with contextlib.suppress(Exception):  # the run itself will report it
            method.prepare(instance)


def judge(
    document: Document,
    call: MethodCall,
    outcome: MethodOutcome,
    limits: Limits,
    seed: int,
    time_s: float,
    reason: str | None = None,
) -> Result:
    """Turn an outcome into a result: evaluate the solution, compare claims, decide the status."""
    problem = document.problem
    evaluation = None
    if outcome.solution is not None:
        try:
            evaluation = problem.evaluate(document.data, outcome.solution)
        except Exception as error:  # a method may return anything
            reason = f"the solution cannot be evaluated: {failure(error)}"
    reason = reason or _nonsense(outcome)
    if reason is None and outcome.certificate is not None:
        true = evaluation.objective if evaluation is not None and evaluation.feasible else None
        reason = _rely_on_certificate(document, outcome, true)
    reason = reason or _contradiction(problem, outcome, evaluation)
    objective = evaluation.objective if evaluation is not None and evaluation.feasible else None
    if reason is not None:
        status, objective, bound = Status.ERROR, None, None
    else:
        bound = _loosened(problem, _finite(outcome.dual_bound), objective)
        status = _status(problem, outcome, objective, bound)
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
        notes=outcome.notes,
    )


def relative_gap(objective: Number | None, bound: Number | None) -> float | None:
    """Return |objective - bound| / |objective|, with 1e-10 for an objective of 0; 0 if equal."""
    if objective is None or bound is None:
        return None
    if objective == bound:
        return 0.0
    try:
        return abs(float(objective - bound)) / (abs(float(objective)) or 1e-10)
    except OverflowError:  # exact numbers beyond the range of doubles
        return None


def _rely_on_certificate(
    document: Document, outcome: MethodOutcome, objective: Number | None
) -> str | None:
    """Replace the bound by the one its certificate proves; return a reason if none.

    A proof about a model, or of a search, may prove less than the bound, which then stays a
    solver's word.
    """
    problem, certificate = document.problem, outcome.certificate
    assert certificate is not None
    try:
        proved = certified_bound(problem, document.data, certificate)
    except Exception as error:  # a method may return anything
        if isinstance(certificate, ModelProof):  # the bound stays as good as its claim
            outcome.certificate, outcome.voucher = None, Voucher.SOLVER
            outcome.notes = {**outcome.notes, "proof": {"refused": failure(error)}}
            return None
        return f"the certificate cannot be checked: {failure(error)}"
    claimed = outcome.dual_bound
    if proved is None:
        return "the certificate proves no bound"
    if isinstance(certificate, ModelProof):
        outcome.notes = {**outcome.notes, "proof": told_of(certificate, proved)}
        if not stands_for(problem, proved, claimed, objective):
            outcome.voucher = Voucher.SOLVER
            return None
        outcome.dual_bound, outcome.voucher = proved, Voucher.VERIFIED
        return None
    if certificate.may_prove_less and not stands_for(problem, proved, claimed, objective):
        outcome.certificate, outcome.voucher = None, Voucher.SOLVER
        outcome.notes = {**outcome.notes, "proof": {"bound": show(proved)}}
        return None
    exact = not certificate.may_prove_less
    if exact and claimed is not None and _better(problem, proved, shortened(problem, claimed)):
        return f"claimed dual bound {show(claimed)}, but its certificate proves {show(proved)}"
    outcome.dual_bound, outcome.voucher = proved, Voucher.VERIFIED
    return None


def _nonsense(outcome: MethodOutcome) -> str | None:
    """Return what in an outcome is not a number or not a proof, if anything."""
    named = {"objective": outcome.claimed_objective, "dual bound": outcome.dual_bound}
    for what, value in named.items():
        if isinstance(value, float) and math.isnan(value):
            return f"claimed {what} nan, which is not a number"
    if outcome.proved not in (None, Status.INFEASIBLE, Status.UNBOUNDED):
        return f"claimed to have proved {outcome.proved}, which takes a solution and a bound"
    if outcome.voucher not in (Voucher.SOLVER, Voucher.VERIFIED):
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
        return f"claimed objective {show(claimed)}, but its solution has {show(true)}"
    if bound is not None and refutes(true, bound, minimise=problem.sense == "min"):
        return f"claimed dual bound {show(bound)}, but its own solution has {show(true)}"
    return None


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

    Only exact methods stop there; that a heuristic's bound is so near is chance.
    """
    if status is Status.OPTIMAL and outcome.limit_hit in ("gap", "interrupted"):
        return None  # closed all the same
    searched = method.kind == "exact" and status is Status.FEASIBLE
    within = searched and gap is not None and gap <= limits.rel_gap
    return outcome.limit_hit or ("gap" if within else None)


def _complete(
    outcome: MethodOutcome, objective: Number | None, time_s: float
) -> tuple[TracePoint, ...]:
    """Return the trace, completed by the final objective and bound."""
    end = TracePoint(time_s, objective, _finite(outcome.dual_bound))
    return (*outcome.trace, end)


def show(x: Number) -> str:
    """Return a number as text: integers in full, others with six significant digits."""
    if isinstance(x, float) and not math.isfinite(x):
        return str(x)
    if not -LONG < x < LONG:
        return f"{Decimal(int(x)):.6g}"
    return str(int(x)) if x == int(x) else f"{float(x):.6g}"


def show_gap(gap: float, digits: int) -> str:
    """Return a relative gap in percent; `inf` beyond a million, where the incumbent is almost 0."""
    return "inf" if gap > 1e4 else f"{100 * gap:.{digits}f}%"


def verify_bound(instance: Document, certificate: Document) -> Number:
    """Return the dual bound that a certificate proves, without a solver.

    Raises
    ------
    InputError
        If the two files belong to different problems, or the certificate proves nothing.
    """
    same_problem(instance, certificate)
    try:
        bound = certified_bound(instance.problem, instance.data, certificate.data)
    except ValueError as error:
        raise InputError(f"{certificate.path}: {error}") from None
    if bound is None:
        raise InputError(f"{certificate.path}: proves no bound on {instance.path}")
    return bound


def verify(
    instance: Document, solution: Document, certificate: Document | None = None
) -> Evaluation:
    """Evaluate a solution of an instance, and compare it with a certificate's bound if given.

    Raises
    ------
    InputError
        If the files belong to different problems, or the certificate proves nothing.
    BoundRefuted
        If the solution is feasible and better than the certificate's bound.
    """
    same_problem(instance, solution)
    evaluation: Evaluation = instance.problem.evaluate(instance.data, solution.data)
    if certificate is not None:
        contradiction = refutation(instance, evaluation, verify_bound(instance, certificate))
        if contradiction is not None:
            raise BoundRefuted(f"{certificate.path}: {contradiction}")
    return evaluation


def refutation(instance: Document, evaluation: Evaluation, bound: Number) -> str | None:
    """Return how a feasible solution refutes a dual bound, or None if it does not."""
    objective = evaluation.objective
    if not evaluation.feasible or objective is None:
        return None
    if not refutes(objective, bound, minimise=instance.problem.sense == "min"):
        return None
    return f"the dual bound {show(bound)} is refuted: a feasible solution has {show(objective)}"


def same_problem(instance: Document, other: Document) -> None:
    """Raise an InputError if two files belong to different problems."""
    if instance.problem.name != other.problem.name:
        raise InputError(
            f"{other.path}: problem: {other.problem.name!r}, expected "
            f"{instance.problem.name!r} as in {instance.path}"
        )
