"""An entry checked: its instance drawn again, its solution evaluated, its bound proved again.

Nothing that the entry says is believed, and no solver takes part. Who found it is a claim, of which
this is checked: the history is as it was written, its steps improve, a method of ours exists and
takes a seed or not. `repeating` does the run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from gadgetopt.errors import InputError, ModelRefused, Unproved, failure
from gadgetopt.numbers.alarm import TimeUp, ended_after
from gadgetopt.numbers.text import show, without_long_numbers
from gadgetopt.numbers.tolerance import Number, agrees, refutes
from gadgetopt.records.drawing import instance_of
from gadgetopt.records.facts import is_hopeless, of_instance, of_numbers
from gadgetopt.records.history import faults_of_history
from gadgetopt.records.keeping import data_of
from gadgetopt.records.record import Kept, Record
from gadgetopt.runs.rows import decode_number
from gadgetopt.system.files import Document, record_type, validate
from gadgetopt.system.registry import problem, problem_names
from gadgetopt.trust.certificate import certified_bound

#: Seconds after which the check of an entry is ended, and the entry refused. By definition.
MOST_S = 120.0


@dataclass(frozen=True)
class Fault:
    """What is wrong with an entry, in the words of a line."""

    field: str
    why: str

    def __str__(self) -> str:
        return f"{self.field}: {self.why}" if self.field else self.why


def file_name(name: str, what: str) -> str:
    """Return the name of the file beside an entry that keeps its solution or certificate."""
    return f"{name}.{what}.json.xz"


def faults_of(
    record: Record, beside: Callable[[str], bytes], seconds: float = MOST_S
) -> list[Fault]:
    """Return what is wrong with an entry; nothing if every number in it was proved again.

    Parameters
    ----------
    record : Record
    beside : callable
        Returns the content of a file beside the entry, or raises an InputError.
    seconds : float
        Time after which the check is ended, and the entry refused.
    """
    try:
        with ended_after(seconds) as alarm:
            return list(_faults(record, beside))
    except TimeUp:
        if not alarm.rang:
            raise
        return [Fault("", f"was not checked within {seconds:g} s")]
    except MemoryError:
        return [Fault("", "takes more memory than there is")]
    except Exception as error:  # an entry may hold anything
        return [Fault("", f"cannot be checked: {failure(error)}")]


def _faults(record: Record, beside: Callable[[str], bytes]) -> Iterator[Fault]:
    if record.problem not in problem_names():
        yield Fault("problem", f"{record.problem!r} is not a known problem")
        return
    system = problem(record.problem)
    try:
        document = instance_of(system, record.name, record.instance)
    except (InputError, ModelRefused) as error:
        yield Fault("", _line(error))
        return
    if document.fingerprint != record.fingerprint:
        yield Fault("fingerprint", "is not that of the instance")
        return
    for field, true in of_instance(document, record.instance).items():
        if getattr(record, field) != true:
            yield Fault(field, f"{getattr(record, field)!r}, expected {true!r}")
    try:
        objective = _objective(record, document, beside)
        bound = _bound(record, document, beside)
    except InputError as error:
        yield Fault("", _line(error))
        return
    yield from _disagreements(record, document, objective, bound)
    yield from (Fault(*fault) for fault in faults_of_history(document.problem, record))


def _disagreements(
    record: Record, document: Document[Any], objective: Number | None, bound: Number | None
) -> Iterator[Fault]:
    """Yield where the numbers of an entry are not those that its parts show."""
    system = document.problem
    if objective is None and bound is None:
        yield Fault("solution", "missing, and so is a certificate")
    shown = {"best_objective": objective, "best_bound": bound}
    for field, true in shown.items():
        claimed = decode_number(getattr(record, field))
        if (claimed is None) != (true is None) or not (true is None or _same(claimed, true)):
            what = "solution" if field == "best_objective" else "certificate"
            had = f"the {what} shows {show(true)}" if true is not None else f"there is no {what}"
            yield Fault(field, f"{getattr(record, field)} is claimed, but {had}")
    if objective is not None and bound is not None:
        impossible = is_hopeless(document, bound)
        if impossible or refutes(objective, bound, minimise=system.sense == "min"):
            yield Fault(
                "best_bound", f"{show(bound)} is refuted by the solution's {show(objective)}"
            )
    follows = of_numbers(document, objective, bound)
    status, gap = follows["status"], follows["gap"]
    if record.status != status:
        yield Fault("status", f"{record.status!r}, expected {status!r}")
    if (record.gap is None) != (gap is None) or not (gap is None or _same(record.gap, gap)):
        yield Fault("gap", f"{record.gap}, expected {gap}")


def _same(claimed: Number | None, true: Number) -> bool:
    """Return True if numbers are equal; of doubles, which machines may round apart, nearly."""
    return claimed is not None and agrees(claimed, true)


def _objective(
    record: Record, document: Document[Any], beside: Callable[[str], bytes]
) -> Number | None:
    """Return the objective of the solution, None if there is none."""
    data = _part(record, "solution", record.solution, document, beside)
    if data is None:
        return None
    evaluation = document.problem.evaluate(document.data, data)
    if not evaluation.feasible or evaluation.objective is None:
        first = next(iter(evaluation.violations), None)
        what = f" of {first.constraint} at {first.where}" if first else ""
        raise InputError(f"solution: is infeasible, a violation{what}")
    objective: Number = evaluation.objective
    return objective


def _bound(
    record: Record, document: Document[Any], beside: Callable[[str], bytes]
) -> Number | None:
    """Return the bound that the certificate proves, None if there is none."""
    certificate = _part(record, "certificate", record.certificate, document, beside)
    if certificate is None:
        return None
    try:
        bound = certified_bound(document.problem, document.data, certificate)
    except (ValueError, InputError, ModelRefused, Unproved) as error:
        raise InputError(f"certificate: proves nothing: {error}") from None
    if bound is None:
        raise InputError("certificate: proves nothing on this instance")
    return bound


def _part(
    record: Record,
    what: str,
    part: Kept | None,
    document: Document[Any],
    beside: Callable[[str], bytes],
) -> Any:
    """Return a solution or certificate as its type."""
    if part is None:
        return None
    try:
        data = data_of(part, file_name(record.name, what), beside)
    except InputError as error:
        raise InputError(f"{what}{error}") from None
    kind = record_type(document.problem, what, data)
    if kind is None:
        raise InputError(f"{what}: {document.problem.name} has no certificates of its own")
    return validate(kind, data, what, prefix="")


def _line(error: Exception) -> str:
    return without_long_numbers(" ".join(str(error).split()))
