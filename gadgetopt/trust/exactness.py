"""Proved bounds that are the objective itself, where rounded duals leave them a little short."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from gadgetopt.errors import failure, in_words
from gadgetopt.system.data import ModelProof
from gadgetopt.system.files import Document
from gadgetopt.system.methods import find_formulation
from gadgetopt.system.result import Result, Status, Voucher
from gadgetopt.trust.certificate import bound_on_model, compiled_formulation
from gadgetopt.trust.proving import CERTIFY, PROOF, certificate_of, proof_notes, with_reason

if TYPE_CHECKING:
    from gadgetopt.solvers.standard_form import StandardForm


def with_exact_bound(
    document: Document, result: Result, most_s: float, form: StandardForm | None = None
) -> Result:
    """Return a result whose verified bound is its objective, if a search for the proof finds it.

    Parameters
    ----------
    most_s : float
        Seconds that the search may take.
    form : StandardForm, optional
        The compiled model of the proof's formulation, if it is at hand.
    """
    objective, certificate = result.objective, result.certificate
    if (
        most_s <= 0
        or not isinstance(certificate, ModelProof)
        or certificate.kind != "tree"
        or not _is_nearly_proved(result)
        or find_formulation(document.problem, certificate.formulation).objective_error
    ):
        return result
    from gadgetopt.proofs.exact_model import exact_model
    from gadgetopt.proofs.exactness.sharpening import sharpened
    from gadgetopt.proofs.files import packed, unpacked
    from gadgetopt.proofs.model import digest

    assert objective is not None
    begin = time.perf_counter()

    def left_s() -> float:
        return begin + most_s - time.perf_counter()

    name = certificate.formulation
    try:
        model = None if form is None else exact_model(form)
        if model is None or digest(model) != certificate.model:
            model = exact_model(compiled_formulation(document.problem, document.data, name))
        target = model.least(Fraction(objective))
        lines = sharpened(model, list(unpacked(certificate.proof)), target, left_s)
        if lines is None:
            return result
        better = certificate_of(name, model, packed(lines))
        proved = bound_on_model(document.problem, better, model)
    except KeyboardInterrupt:
        return result
    except Exception as error:  # the proof that there is stands
        return with_reason(result, {"inexact": in_words(failure(error))})
    if proved != objective:
        return result
    noted = result.notes.get(PROOF)
    told = noted if isinstance(noted, dict) else {}
    took_s = time.perf_counter() - begin
    return replace(
        result,
        bound=proved,
        gap=0.0,
        certificate=better,
        notes={**result.notes, PROOF: {**told, **proof_notes(better, proved)}},
        phases_s={**result.phases_s, CERTIFY: result.phases_s.get(CERTIFY, 0.0) + took_s},
    )


def _is_nearly_proved(result: Result) -> bool:
    """Return True if a verified bound closes the gap of an exact objective, but is not it."""
    return (
        result.status is Status.OPTIMAL
        and result.bound_voucher is Voucher.VERIFIED
        and isinstance(result.objective, int | Fraction)
        and result.bound != result.objective
    )
