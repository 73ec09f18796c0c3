"""Searches for proofs of the bounds of finished runs, as far as the time goes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from gadgetopt.errors import failure
from gadgetopt.numbers.tolerance import Number, closes, simplest_rational
from gadgetopt.system.data import ModelProof
from gadgetopt.system.declaration import Formulation, Problem
from gadgetopt.system.files import Document
from gadgetopt.system.result import Result, Status, Voucher
from gadgetopt.trust.certificate import certified_bound, compiled_formulation
from gadgetopt.trust.proving import CERTIFY, PROOF, certificate_of, stands_for, told_of
from gadgetopt.trust.run import relative_gap


def certify(
    document: Document,
    result: Result,
    seconds: float,
    stop: Callable[[], bool] = lambda: False,
) -> Result:
    """Return a result whose bound is proved as far as that many seconds of searching allow.

    The target is the bound of the run, which meets the objective if the run is optimal. What cannot
    be proved in time is proved as far as it was: a weaker bound. Ctrl-C ends the search, too, and
    so does `stop` when it returns True.
    """
    if result.bound_voucher is Voucher.VERIFIED and result.status is Status.OPTIMAL:
        return result
    target = result.bound if result.status is not Status.OPTIMAL else result.objective
    target = result.objective if target is None else target
    formulation = _formulation(document.problem, result)
    if target is None or formulation is None or result.status is Status.ERROR:
        return result
    begin = time.perf_counter()
    try:
        certificate, leaves = _searched(document, formulation.name, target, seconds, stop)
        searched = time.perf_counter()
        proved = certified_bound(document.problem, document.data, certificate)
    except KeyboardInterrupt:
        return result
    except Exception as error:  # the run stands without its proof
        return replace(result, notes={**result.notes, PROOF: {"refused": failure(error)}})
    if proved is None or not _improves(document, result, proved):
        return result
    told = {
        **told_of(certificate, proved),
        "leaves": leaves,
        "prove_s": round(searched - begin, 3),
        "check_s": round(time.perf_counter() - searched, 3),
    }
    out = replace(
        result,
        certificate=certificate,
        notes={**result.notes, PROOF: told},
        phases_s={**result.phases_s, CERTIFY: time.perf_counter() - begin},
    )
    if not stands_for(document.problem, proved, result.bound, result.objective):
        return out
    return _with_bound(document.problem, out, proved)


def _with_bound(problem: Problem, result: Result, proved: Number) -> Result:
    closed = result.objective is not None and closes(
        result.objective, proved, integral=problem.integral_objective
    )
    return replace(
        result,
        bound=proved,
        bound_voucher=Voucher.VERIFIED,
        gap=relative_gap(result.objective, proved),
        status=Status.OPTIMAL if closed else result.status,
    )


def _improves(document: Document, result: Result, proved: Number) -> bool:
    """Return True if a proof is stronger than that which a result has."""
    if not isinstance(result.certificate, ModelProof):
        return True
    before = certified_bound(document.problem, document.data, result.certificate)
    if before is None:
        return True
    return proved > before if document.problem.sense == "min" else proved < before


def _formulation(problem: Problem, result: Result) -> Formulation | None:
    """Return the formulation to prove a bound on: the run's own, else the first exact one."""
    linear = [f for f in problem.formulations if f.model_class in ("LP", "ILP", "MILP")]
    for f in linear:
        if f.name == result.formulation and f.strength != "restriction":
            return f
    return next((f for f in linear if f.strength == "exact"), None)


def _searched(
    document: Document, name: str, target: Number, seconds: float, stop: Callable[[], bool]
) -> tuple[ModelProof, int]:
    """Search for a proof; raise a ValueError if there is none."""
    from gadgetopt.proofs.exact_model import exact_model
    from gadgetopt.proofs.tree_producer import seconds_left, tree_proof

    clock = seconds_left(seconds)

    def left_s() -> float:
        return 0.0 if stop() else clock()

    form = compiled_formulation(document.problem, document.data, name)
    model = exact_model(form)
    made = tree_proof(form, model, model.least(simplest_rational(target)), left_s)
    if made is None:
        raise ValueError(f"no bound of {name} could be proved")
    return certificate_of(name, model, made), made.leaves
