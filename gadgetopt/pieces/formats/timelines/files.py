"""The two exporters of a system's schedules, from its spans and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.timelines.chrome_trace import read_trace, write_trace
from gadgetopt.pieces.formats.timelines.gantt import read_gantt, write_gantt
from gadgetopt.pieces.formats.timelines.spans import Span, check_times
from gadgetopt.system.result import Evaluation

I = TypeVar("I")  # noqa: E741
S = TypeVar("S")


@dataclass(frozen=True)
class Timelines(Generic[I, S]):
    """How a system's solutions become tables and traces.

    Attributes
    ----------
    unit : str
        Of the times, such as "s" or "slot".
    spans : callable
        `spans(instance, solution)`: what runs where and when, for a solution without violations.
    decision : callable
        `decision(instance, spans)`: the solution that these spans say.
    evaluate : callable
        The system's evaluator.
    """

    unit: str
    spans: Callable[[I, S], list[Span]]
    decision: Callable[[I, Sequence[Span]], S]
    evaluate: Callable[[I, S], Evaluation]

    def gantt(self, instance: I, solution: S) -> Exported:
        """Return the table of a solution."""
        return Exported({".csv": write_gantt(self.spans(instance, solution), self.unit)})

    def trace(self, instance: I, solution: S) -> Exported:
        """Return the trace of a solution."""
        return Exported({".json": write_trace(self.spans(instance, solution), self.unit)})

    def read_gantt(self, instance: I, files: Exported) -> S:
        """Return the solution of a table, whose times have to be those that it leads to."""
        return self._checked(instance, read_gantt(files.text(".csv"), self.unit))

    def read_trace(self, instance: I, files: Exported) -> S:
        """Return the solution of a trace, whose times have to be those that it leads to."""
        return self._checked(instance, read_trace(files.text(".json"), self.unit))

    def _checked(self, instance: I, spans: Sequence[Span]) -> S:
        solution = self.decision(instance, spans)
        evaluation = self.evaluate(instance, solution)
        if evaluation.objective is not None and not evaluation.violations:
            check_times(spans, self.spans(instance, solution))
        return solution
