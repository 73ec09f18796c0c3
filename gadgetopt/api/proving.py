"""`prove`: a bound of a model or an instance with its proof."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import Number
from gadgetopt.system.files import Document
from gadgetopt.system.result import Result


@dataclass(frozen=True)
class Proof:
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

    def __str__(self) -> str:
        return str(self.result)


def prove(
    instance: Any,
    certify: str = "10x",
    method: str | None = None,
    *,
    time_limit: float | None = None,
    seed: int = 0,
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

    document = as_instance(instance)
    result = solve(document, method, time_limit=time_limit, seed=seed, certify=certify)
    proof = result.certificate
    bound = None if proof is None else certified_bound(document.problem, document.data, proof)
    return Proof(result, bound, document)
