"""The row of a run, however the run ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gadgetopt import __version__
from gadgetopt.errors import OtherCode, failure
from gadgetopt.runs.code.source_code import loaded_code
from gadgetopt.runs.engine.budget import budget_s
from gadgetopt.runs.engine.searches import search_of
from gadgetopt.runs.engine.work import Failure, Work, unproved
from gadgetopt.runs.rows import Row, StoredRun, checked_row, from_row
from gadgetopt.system.declaration import Method, Problem
from gadgetopt.system.files import Document
from gadgetopt.system.methods import MethodCall, find_method
from gadgetopt.system.result import MethodOutcome, Result
from gadgetopt.trust.certifying import certify
from gadgetopt.trust.run import (
    Attempt,
    attempt,
    conclude,
    warm_up,
)
from gadgetopt.trust.theorems import promises


def run_here(work: Work, document: Document) -> Row:
    """Do a run in this process and return its row."""
    call = find_method(document.problem, work.spec)
    check_code(work, document.problem, call.method)
    warm_up(document.problem, call.method)
    made = attempt(document, call, work.limits, work.seed, work.grace_s)
    row = finished_row(work, document, call, made)
    if not work.certify:
        return row
    with search_of(work.session, budget_s(work.certify, row["time_s"])) as search:
        return certified_row(work, document, row, tell=search.at)


def check_code(work: Work, problem: Problem, method: Method) -> None:
    """Raise OtherCode if this process has loaded other code than the run asks for."""
    here = loaded_code(problem, method)
    if work.code is not None and work.code != here:
        raise OtherCode(work.code, here)


def finished_row(work: Work, document: Document, call: MethodCall, made: Attempt) -> Row:
    """Return the row of an attempt, or of an error if the result cannot be stored."""
    result = conclude(document, call, work.limits, work.seed, made)
    try:
        return _row(work, document, call, result)
    except Exception as error:
        reason = result.reason or f"its result cannot be stored: {failure(error)}"
        bare = Attempt(MethodOutcome(), made.time_s, _printable(reason), made.refused)
        told = conclude(document, call, work.limits, work.seed, bare)
        return _row(work, document, call, told)


def certified_row(
    work: Work,
    document: Document,
    row: Row,
    keep: Callable[[Row], None] = lambda row: None,
    tell: Callable[[str], None] = lambda doing: None,
) -> Row:
    """Return a run's row with what can be proved of its bound in the time for it.

    `keep` is given each row that is better than those before, and `tell` what is tried.
    """
    run = from_row(row)
    seconds = budget_s(work.certify, run.result.time_s)

    def proved(result: Result) -> Row:
        try:
            return checked_row(replace(run, result=result))
        except ValueError as error:  # a proof that is too large for a store
            return unproved(row, f"the proof cannot be stored: {error}")

    def found(result: Result) -> None:
        keep(proved(result))

    return proved(certify(document, run.result, seconds, tell=tell, keep=found))


def failed_row(work: Work, document: Document, failed: Failure) -> Row:
    """Return the row of a run that its supervisor gave up."""
    call = find_method(document.problem, work.spec)
    outcome = MethodOutcome(limit_hit=failed.limit_hit)
    made = Attempt(outcome, failed.time_s, _printable(failed.reason))
    return _row(work, document, call, conclude(document, call, work.limits, work.seed, made))


def _row(work: Work, document: Document, call: MethodCall, result: Result) -> Row:
    promised = promises(document.problem, document.data, call, result)
    return checked_row(StoredRun(work.key, result, promised, work.limits, __version__, work.code))


def _printable(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()
