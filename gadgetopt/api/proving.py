"""`prove`: a bound of a model or an instance with its proof."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import Number
from gadgetopt.reporting.views import markup, values
from gadgetopt.system.display import Displayed
from gadgetopt.system.files import Document
from gadgetopt.system.result import Result


@dataclass(frozen=True, repr=False)
class Proof(Displayed):
    """What was proved of an instance.

    Attributes
    ----------
    result : Result
        The run whose bound was to be proved.
    bound : Number or None
        The bound that the proof proves, checked in exact arithmetic; None without a proof.
    """

    result: Result
    bound: Number | None
    instance: Document[Any]

    def write(self, path: Path | str) -> None:
        """Write the proof as a certificate, which `gadgetopt verify --bound` checks.

        Raises
        ------
        InputError
            If nothing was proved, or the file cannot be written.
        """
        from gadgetopt.system.files import write
        from gadgetopt.trust.proving import why_unproved

        certificate = self.result.certificate
        if certificate is None:
            raise InputError(f"{path}: no proof to write: {why_unproved(self.result)}")
        origin = {"method": self.result.method, "instance": self.instance.fingerprint}
        system, name = self.instance.problem, self.instance.name
        write(Document(system, "certificate", name, certificate, origin), path)


def _lines(proof: Proof) -> values.Lines:
    """Return what is proved, how far it is from the solution, and what the proof consists of."""
    from gadgetopt.trust.judgement import relative_gap
    from gadgetopt.trust.proving import PROOF, why_unproved

    result, instance = proof.result, proof.instance
    lines = [("instance", f"{instance.name} ({instance.problem.name})")]
    if result.objective is not None:
        said = f"{values.exactly(result.objective)} (found by {result.method})"
        lines.append((values.objective_of(result), said))
    if proof.bound is None:
        return [*lines, ("proof", f"none: {why_unproved(result)}")]
    gap = relative_gap(result.objective, proof.bound)
    lines += values.proof_lines(proof.bound, gap, None, instance.sense)
    told = result.notes.get(PROOF)
    noted = told if isinstance(told, dict) else {}
    parts = [f"{key} {noted[key]:,}" for key in ("leaves", "steps", "bytes") if noted.get(key)]
    return [*lines, ("proof", ", ".join(parts))] if parts else lines


@values.line.register(Proof)
def _(value: Proof) -> str:
    _, *lines = _lines(value)
    said = ", ".join(f"{name} {of}" for name, of in lines)
    return f"<Proof on {value.instance.name}: {said}>"


@values.text.register(Proof)
def _(value: Proof) -> str:
    return values.aligned(_lines(value))


@values.numbers.register(Proof)
def _(value: Proof) -> str:
    return markup.pairs(_lines(value))


def prove(
    instance: Any,
    certify: str = "10x",
    method: str | None = None,
    *,
    time_limit: float | None = None,
    seed: int = 0,
    within: str | None = None,
) -> Proof:
    """Solve an instance and prove its bound.

    Parameters
    ----------
    instance : Document, path or Pyomo model
    certify : str
        Seconds such as "30", or a multiple of the run's such as "10x", for the proof.
    method : str, optional
        Default: the system's own.
    time_limit : float, optional
        Seconds of the run.
    seed : int
    within : str, optional
        A tolerance such as "1e-6" within which the rows of a model may hold: the relaxed model is
        solved and proved, as an instance of its own (`Document.within`).

    Returns
    -------
    Proof
        Its `bound` may be weaker than that of its `result`, where the time was too short.

    Raises
    ------
    InputError
        If the instance cannot be read, or the method is unknown.

    Examples
    --------
    >>> import gadgetopt
    >>> proof = gadgetopt.prove("instances/mip/tiny/mixed.lp", "10")
    >>> proof.bound, proof.result.bound_voucher.value
    (Fraction(51, 8), 'verified')
    """
    from gadgetopt.api.running import as_instance, solve
    from gadgetopt.trust.certificate import certified_bound

    document = as_instance(instance).within(within or "0")
    result = solve(document, method, time_limit=time_limit, seed=seed, certify=certify)
    proof = result.certificate
    bound = None if proof is None else certified_bound(document.problem, document.data, proof)
    return Proof(result, bound, document)
