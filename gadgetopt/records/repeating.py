"""The run that found an entry's solution done again: whether its finder can have found it so."""

from __future__ import annotations

from collections.abc import Iterator

from gadgetopt.numbers.text import show
from gadgetopt.numbers.tolerance import exceeds
from gadgetopt.records.checking import Fault
from gadgetopt.records.drawing import instance_of
from gadgetopt.records.record import Record
from gadgetopt.runs.rows import decode_number
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve


def faults_of_run(record: Record) -> Iterator[Fault]:
    """Yield a fault if the named run does not reach the objective, or cannot be done.

    A run that was stopped by its time may reach less on a slower machine.
    """
    step = record.last("objective")
    if step is None:
        return
    if not step.ours:
        yield Fault("history", f"{step.method} is none of gadgetopt's methods, cannot be repeated")
        return
    document = instance_of(problem(record.problem), record.name, record.instance)
    result = solve(document, step.method, Limits(time_s=step.time_limit_s), step.seed or 0)
    best = decode_number(step.value)
    assert best is not None
    if result.objective is None:
        yield Fault("history", f"{step.method} finds no solution here: {result.state}")
        return
    worse, than = (result.objective, best) if document.sense == "min" else (best, result.objective)
    if exceeds(worse, than):
        reached = show(result.objective)
        yield Fault("history", f"{step.method} reaches {reached} here, not {show(best)}")
