"""The steps that led to the present best, chained so that none is changed unnoticed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import Number
from gadgetopt.records.facts import is_better, is_tighter
from gadgetopt.records.record import Record, Step
from gadgetopt.runs.rows import decode_number, encode_number
from gadgetopt.system.declaration import Problem
from gadgetopt.system.methods import find_method


def next_step(fingerprint: str, before: Sequence[Step], value: Number, **told: Any) -> Step:
    """Return a step with its digest, to be put after others."""
    fields = {"value": encode_number(value), **told}
    unsealed = Step(digest="0" * 64, **fields)
    return Step(digest=_digest(fingerprint, before, unsealed), **fields)


def _digest(fingerprint: str, before: Sequence[Step], step: Step) -> str:
    """Return the digest of a step, of the one before it, and so of the instance."""
    plain = step.model_dump(mode="json", exclude={"digest"})
    first = before[-1].digest if before else fingerprint
    text = first + json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def faults_of_history(system: Problem, record: Record) -> Iterator[tuple[str, str]]:
    """Yield the fields of a history that cannot be true, and why."""
    best: dict[str, Number] = {}
    for k, step in enumerate(record.history):
        place, before = f"history[{k}]", record.history[:k]
        if step.digest != _digest(record.fingerprint, before, step):
            yield f"{place}.digest", "the step, or one before it, was changed after it was written"
            return
        value = _number(step.value)
        if value is None:
            yield f"{place}.value", f"{step.value!r} is not a number"
            return
        better = is_better if step.what == "objective" else is_tighter
        if not better(system, value, best.get(step.what)):
            yield f"{place}.value", f"{step.value} is no improvement"
        best[step.what] = value
        if not _is_day(step.date):
            yield f"{place}.date", f"{step.date!r} is not a day"
        if before and step.date < before[-1].date:
            yield f"{place}.date", f"{step.date} is before the step that it improved"
        if step.ours:
            yield from _faults_of_run(system, step, place)
    for what, field in (("objective", "best_objective"), ("bound", "best_bound")):
        last, now = record.last(what), getattr(record, field)
        if (last.value if last else None) != now:
            said = f"reached {last.value}" if last else "has no step that reached one"
            yield field, f"{now} is claimed, but the history {said}"


def _faults_of_run(system: Problem, step: Step, place: str) -> Iterator[tuple[str, str]]:
    """Yield what cannot be true of a run by one of our methods."""
    try:
        call = find_method(system, step.method)
    except InputError as error:
        yield f"{place}.method", str(error)
        return
    if call.method.stochastic and step.seed is None:
        yield f"{place}.seed", f"missing, {call.method.name} takes one"
    if not call.method.stochastic and step.seed is not None:
        yield f"{place}.seed", f"{step.seed}, but {call.method.name} takes none"


def _number(text: str) -> Number | None:
    try:
        return decode_number(text)
    except ValueError:
        return None


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
