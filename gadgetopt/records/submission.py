"""Entries improved: what is better is taken over, with its proof, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from gadgetopt.errors import InputError, ModelRefused, Unproved
from gadgetopt.numbers.alarm import ended_after
from gadgetopt.numbers.text import show, without_long_numbers
from gadgetopt.numbers.tolerance import Number, closes, exceeds, is_finite, refutes
from gadgetopt.records.candidates import Candidate, Candidates, of_files, of_store
from gadgetopt.records.checking import faults_of, file_name
from gadgetopt.records.drawing import where_from
from gadgetopt.records.facts import is_hopeless, is_tighter, of_instance, of_numbers
from gadgetopt.records.history import next_step
from gadgetopt.records.keeping import kept
from gadgetopt.records.record import FORM, Drawn, Record, Shipped
from gadgetopt.records.shelf import Entry, find_entries, read_entry, shelf, write_entry
from gadgetopt.runs.rows import decode_number
from gadgetopt.runs.store import Store
from gadgetopt.runs.store_file import is_store
from gadgetopt.system.files import Document
from gadgetopt.trust.certificate import certified_bound

#: Seconds that the check of an entry may take, so that all are checked in minutes. By definition.
MOST_CHECK_S = 20.0
#: The least relative improvement of a bound that is a step, unless it closes the entry: less is
#: rounding. By definition.
LEAST_STEP = Fraction(1, 10**6)
#: Who found what, unless said otherwise.
US = "the gadgetopt developers"


@dataclass
class Submitted:
    """What became of a submission.

    Attributes
    ----------
    added, improved, kept : int
        Entries that are new, that were improved, and that stay as they were.
    unknown : int
        Instances that have no entry.
    refused : list of str
        Lines: what was not taken over, and why.
    """

    added: int = 0
    improved: int = 0
    kept: int = 0
    unknown: int = 0
    refused: list[str] = field(default_factory=list)


def submit(
    paths: Sequence[Path | str],
    *,
    folder: Path | None = None,
    by: str = US,
    method: str = "unknown",
    version: str = "",
    seed: int | None = None,
    new: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> Submitted:
    """Take over what is better than the records, with proof, and nothing else.

    Parameters
    ----------
    paths : sequence of path or str
        Stores of runs; or an instance, and solutions and certificates of it, whoever made them.
    folder : Path, optional
        That of the records; default the installed ones.
    by : str
        Who found it, as the history will say.
    method, version, seed
        Of files: what found them. Without a version the method is one of gadgetopt's, if it has it.
    new : bool
        Make entries for instances that have none.
    tell : callable
        Told a line for every entry that is changed, or not for a fault.

    Raises
    ------
    InputError
        If a file cannot be read, or the folder is none.
    """
    given = [Path(path) for path in paths]
    for path in given:
        if not path.exists():
            raise InputError(f"{path}: no such file")
    top = shelf() if folder is None else folder
    if new:
        top.mkdir(parents=True, exist_ok=True)
    found = [read_entry(path) for path in find_entries(folder=top)[1]]
    desk = _Desk(top, {(e.record.problem, e.record.fingerprint): e for e in found}, new, tell)
    stores = [path for path in given if is_store(path)]
    if stores and len(stores) < len(given):
        other = next(path for path in given if path not in stores)
        raise InputError(f"{other}: is not a store of runs, as {stores[0]} is")
    for path in stores:
        with Store(path, create=False) as store:
            for candidates in of_store(store, by):
                desk.take(candidates)
    if not stores:
        desk.take(of_files(given, by, method, version, seed))
    return desk.done


@dataclass
class _Desk:
    """Where candidates are held against the entries of a folder."""

    folder: Path
    entries: dict[tuple[str, str], Entry]
    new: bool
    tell: Callable[[str], None]
    done: Submitted = field(default_factory=Submitted)

    def take(self, candidates: Candidates) -> None:
        """Take over what is better."""
        document = candidates.document
        entry = self.entries.get((document.problem.name, document.fingerprint))
        if entry is None and not self.new:
            self.done.unknown += 1
            return
        try:
            draft = _draft(document, entry, self.folder)
        except InputError as error:
            self._refuse(str(error))
            return
        for candidate in candidates.solutions:
            self._attempt(draft, draft.with_solution, candidate)
        for candidate in candidates.proofs:
            self._attempt(draft, draft.with_proof, candidate)
        if not draft.steps:
            self.done.kept += entry is not None
            if entry is None:
                self._refuse(f"{draft.label}: neither a solution nor a proof")
            return
        record, contents = draft.finished()
        faults = faults_of(record, draft.content, MOST_CHECK_S)
        if faults:
            self._refuse(f"{draft.label}: {faults[0]}")
            return
        path = write_entry(
            record, self.folder, contents, lambda name: name in draft.files_of(record)
        )
        self.entries[record.problem, record.fingerprint] = Entry(path, record)
        self.done.added += entry is None
        self.done.improved += entry is not None
        self.tell(f"{draft.label}: {_told(record)}")

    def _attempt(
        self, draft: _Draft, take: Callable[[Candidate], None], candidate: Candidate
    ) -> None:
        try:
            with ended_after(MOST_CHECK_S) as alarm:
                take(candidate)
        except (InputError, Unproved, ModelRefused, ValueError) as error:
            self._refuse(f"{draft.label}: {error}")
        except KeyboardInterrupt:
            if not alarm.rang:
                raise
            self._refuse(f"{draft.label}: its check takes more than {MOST_CHECK_S:g} s")

    def _refuse(self, line: str) -> None:
        line = without_long_numbers(" ".join(line.split()))
        self.done.refused.append(line)
        self.tell(f"refused: {line}")


@dataclass
class _Draft:
    """An entry while it is improved."""

    document: Document[Any]
    name: str
    where: Drawn | Shipped
    entry: Entry | None
    objective: Number | None
    bound: Number | None
    parts: dict[str, Any]
    steps: list[tuple[str, Number, Mapping[str, Any]]] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return f"{self.document.problem.name}/{self.name}"

    def with_solution(self, candidate: Candidate) -> None:
        """Take a solution that is better beyond doubt; one that claims no more is not evaluated."""
        if candidate.claimed is not None and not self._is_better(candidate.claimed):
            return
        evaluation = self.document.problem.evaluate(self.document.data, candidate.data)
        if not evaluation.feasible or evaluation.objective is None:
            raise InputError("the solution is infeasible")
        value: Number = evaluation.objective
        if not self._is_better(value):
            return
        minimise = self.document.problem.sense == "min"
        if self.bound is not None and refutes(value, self.bound, minimise=minimise):
            raise InputError(f"the solution of {show(value)} refutes the bound {show(self.bound)}")
        self._keep("solution", candidate)
        self.objective = value
        self.steps.append(("objective", value, candidate.told))

    def _is_better(self, value: Number) -> bool:
        if self.objective is None:
            return True
        minimise = self.document.problem.sense == "min"
        worse, better = (self.objective, value) if minimise else (value, self.objective)
        return exceeds(worse, better)

    def with_proof(self, candidate: Candidate) -> None:
        """Take a proof of a bound that is tighter by more than rounding."""
        system = self.document.problem
        claimed = candidate.claimed
        if claimed is not None and not is_tighter(system, claimed, self.bound):
            return
        bound = certified_bound(system, self.document.data, candidate.data)  # type: ignore[arg-type]
        if bound is None or not is_tighter(system, bound, self.bound):
            return
        if self.objective is not None:
            minimise = system.sense == "min"
            if is_hopeless(self.document, bound) or refutes(
                self.objective, bound, minimise=minimise
            ):
                raise InputError(
                    f"the proved bound {show(bound)} is refuted by the solution of "
                    f"{show(self.objective)}"
                )
        elif not is_hopeless(self.document, bound) and not is_finite(bound):
            raise InputError("the instance is proved to have no optimum")
        if not self._is_step(bound):
            return
        self._keep("certificate", candidate)
        self.bound = bound
        self.steps.append(("bound", bound, candidate.told))

    def _is_step(self, bound: Number) -> bool:
        before = self.bound
        if before is None or not (is_finite(before) and is_finite(bound)):
            return True
        integral = self.document.problem.integral_objective
        if self.objective is not None:
            met, meets = (closes(self.objective, x, integral=integral) for x in (before, bound))
            if met or meets:
                return not met
        return abs(Fraction(bound) - Fraction(before)) > LEAST_STEP * abs(Fraction(before))

    def _keep(self, what: str, candidate: Candidate) -> None:
        name = file_name(self.name, what)
        plain = candidate.data.model_dump(mode="json", exclude_none=True)
        try:
            part, content = kept(plain, name)
        except InputError as error:
            raise InputError(f"the {what} {error}") from None
        self.parts[what] = part
        self.contents.pop(name, None)
        if content is not None:
            self.contents[name] = content

    def content(self, name: str) -> bytes:
        """Return the content of a file beside the entry as it will be."""
        if name in self.contents or self.entry is None:
            return self.contents[name]
        return self.entry.beside(name)

    def files_of(self, record: Record) -> set[str]:
        """Return the files beside an entry."""
        return {part.file for part in (record.solution, record.certificate) if part and part.file}

    def finished(self) -> tuple[Record, dict[str, bytes]]:
        """Return the entry, and the new contents of files beside it."""
        from gadgetopt.runs.rows import encode_number

        history = [] if self.entry is None else list(self.entry.record.history)
        fingerprint = self.document.fingerprint
        last: dict[str, tuple[Number, Mapping[str, Any]]] = {}
        for what, value, told in self.steps:  # of several steps of one kind the last counts
            last.pop(what, None)
            last[what] = (value, told)
        for what, (value, told) in sorted(last.items(), reverse=True):  # the objective first
            day = max([told["date"], *(step.date for step in history)])
            history.append(
                next_step(fingerprint, history, value, **{**told, "what": what, "date": day})
            )
        record = Record(
            gadgetopt_record=FORM,
            name=self.name,
            instance=self.where,
            **of_instance(self.document, self.where),
            **of_numbers(self.document, self.objective, self.bound),
            best_objective=encode_number(self.objective),
            best_bound=encode_number(self.bound),
            solution=self.parts["solution"],
            certificate=self.parts["certificate"],
            history=tuple(history),
        )
        return record, self.contents


def _draft(document: Document[Any], entry: Entry | None, folder: Path) -> _Draft:
    if entry is not None:
        r = entry.record
        numbers = decode_number(r.best_objective), decode_number(r.best_bound)
        parts = {"solution": r.solution, "certificate": r.certificate}
        return _Draft(document, r.name, r.instance, entry, *numbers, parts)
    where = where_from(document)
    name = document.name
    if isinstance(where, Shipped):  # names of files may be those of errata, too
        name = Path(where.file).with_suffix("").name
        if where.file.startswith("errata/"):
            name = f"errata_{name}"
    if (folder / document.problem.name / f"{name}.json").exists():
        raise InputError(f"{document.problem.name}/{name}: is the entry of another instance")
    return _Draft(document, name, where, None, None, None, {"solution": None, "certificate": None})


def _told(record: Record) -> str:
    """Return where an entry stands, for a line."""
    if record.status == "infeasible":
        return "infeasible, proved"
    objective, bound = decode_number(record.best_objective), decode_number(record.best_bound)
    said = [f"objective {show(objective)}" if objective is not None else "no solution"]
    said.append(f"bound {show(bound)}" if bound is not None else "no bound")
    gap = f", gap {100 * record.gap:.3g} %" if record.status == "open" and record.gap else ""
    return f"{record.status}, {', '.join(said)}{gap}"
