"""The proof that a run of a formulation gives by itself: that of the root of its search."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from gadgetopt.errors import InputError, ModelRefused, SolverError, Unproved, failure, in_words
from gadgetopt.numbers.text import show
from gadgetopt.numbers.tolerance import Number, closes, exceeds
from gadgetopt.system.data import ModelProof
from gadgetopt.system.declaration import Formulation, Problem
from gadgetopt.system.files import Document
from gadgetopt.system.methods import MethodCall, find_formulation
from gadgetopt.system.result import MethodOutcome, Result, Status
from gadgetopt.trust.infeasibility import status_proved, status_voucher

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Model
    from gadgetopt.solvers.outcome import SolverOutcome

#: The key of what a run's notes say of its proof, and of the seconds that proving took.
PROOF, CERTIFY = "proof", "certify"

#: The key of the bound that was taken back, with the reason.
WITHDRAWN = "withdrawn_bound"

#: Errors that say why there is no proof. Any other is a fault of the code, or of what it runs on.
FORESEEN = Unproved, ModelRefused, InputError, SolverError


def add_root_proof(document: Document, call: MethodCall, outcome: MethodOutcome) -> None:
    """Give an outcome the proof of one leaf that the duals of its relaxation make, if they do."""
    name = outcome.formulation or call.method.formulation
    if outcome.certificate is not None or outcome.solved is None or name is None:
        return
    try:
        formulation = find_formulation(document.problem, name)
    except InputError:  # a method's own
        return
    begin = time.perf_counter()
    try:
        outcome.certificate = _root_proof(document, formulation, outcome.solved)
    except Exception as error:  # a run without a proof is none the worse
        outcome.notes = {**outcome.notes, PROOF: why_none(error)}
        return
    if outcome.certificate is not None:
        outcome.phases_s = {**outcome.phases_s, CERTIFY: time.perf_counter() - begin}


def _root_proof(
    document: Document, formulation: Formulation, solved: SolverOutcome
) -> ModelProof | None:
    """Return the proof that the duals of a relaxation make; None where there are none."""
    form, duals = solved.form, solved.lp_duals
    if form is None or duals is None or not form.integer.any():
        return None
    if formulation.strength == "restriction":
        return None
    from gadgetopt.proofs.exact_model import exact_model
    from gadgetopt.proofs.files import packed
    from gadgetopt.proofs.tree_producer import root_proof
    from gadgetopt.solvers.dual_bounds import rounded_in_model

    reason = rounded_in_model(formulation, document.data)
    if reason is not None:
        raise Unproved(reason)
    model = exact_model(form)
    made = root_proof(model, duals)
    return None if made is None else certificate_of(formulation.name, model, packed(made.lines))


def why_none(error: Exception) -> dict[str, str]:
    """Return what notes say of the error that ended a proof.

    A reason is "refused"; a fault has "failed", with what is needed to find it.
    """
    if isinstance(error, FORESEEN):
        return {"refused": in_words(failure(error))}
    return {"failed": f"by an unexpected error: {failure(error)}"}


def failed(result: Result) -> str | None:
    """Return the unexpected error by which the proof of a result failed, if it did."""
    noted = result.notes.get(PROOF)
    return str(noted["failed"]) if isinstance(noted, dict) and "failed" in noted else None


def proof_notes(certificate: ModelProof, proved: Number) -> dict[str, Any]:
    """Return what notes say of a proof: its kind, formulation, bound and size."""
    bound = str(proved) if not isinstance(proved, float) else repr(proved)
    settled = status_proved(certificate, proved)
    return {
        "kind": certificate.kind,
        "formulation": certificate.formulation,
        **({"bound": bound} if settled is None else {"shows": str(settled[0])}),
        "bytes": len(certificate.proof),
    }


def notes_with(notes: Mapping[str, Any], why: Mapping[str, str]) -> dict[str, Any]:
    """Return the notes of a run with the reasons why no more of its bound was proved."""
    told = notes.get(PROOF, {})
    if not why or not isinstance(told, dict):  # a method may use the word for a note of its own
        return dict(notes)
    return {**notes, PROOF: {**told, **why}}


def with_reason(result: Result, why: Mapping[str, str]) -> Result:
    """Return a result whose notes say why no more of its bound was proved; itself if nothing."""
    return replace(result, notes=notes_with(result.notes, why)) if why else result


def why_unproved(result: Result) -> str:
    """Return why the bound of a result is not verified: whose word it is, and what was proved."""
    noted = result.notes.get(PROOF)
    told = noted if isinstance(noted, dict) else {}
    if result.status in (Status.ERROR, Status.NOT_APPLICABLE):
        return f"the run is {in_words(result.state)}: {result.reason}"
    if status_voucher(result) is not None:
        parts = [f"{result.status} rests on the word of {result.method} alone"]
    elif result.bound is None:
        parts = [str(result.notes.get(WITHDRAWN, "the run has no bound"))]
    else:
        parts = [f"the bound {show(result.bound)} rests on the word of {result.method} alone"]
    if "bound" in told:
        parts.append(f"the best proof is {show(Fraction(told['bound']))}")
    reasons = [in_words(str(told[key])) for key in ("refused", "ended") if key in told]
    broken = failed(result)
    return "; ".join(
        [*parts, *reasons, *([] if broken is None else [f"the proof failed {broken}"])]
    )


def may_replace_claim(
    problem: Problem, proved: Number, claimed: Number | None, objective: Number | None
) -> bool:
    """Return True if a proved bound can take the place of a claimed one: it is hardly weaker.

    It may not reopen a gap that the claimed bound closes.
    """
    if claimed is None:
        return True
    whole = problem.integral_objective
    if objective is not None and closes(objective, claimed, integral=whole):
        return closes(objective, proved, integral=whole)
    minimise = problem.sense == "min"
    return not (exceeds(claimed, proved) if minimise else exceeds(proved, claimed))


def certificate_of(
    name: str, model: Model, proof: str, kind: Literal["tree", "pseudo_boolean", "ray"] = "tree"
) -> ModelProof:
    """Return a compressed proof about a formulation's model as a certificate."""
    from gadgetopt.proofs.model import digest

    return ModelProof(kind=kind, formulation=name, model=digest(model), proof=proof)
