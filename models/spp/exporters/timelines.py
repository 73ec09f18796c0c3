"""Schedules as tables and traces: the blocks of stages and channels, in seconds."""

from __future__ import annotations

from collections.abc import Sequence

from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.pipelines.spans import pipeline_decision, pipeline_spans
from gadgetopt.pieces.formats.timelines.files import Timelines
from gadgetopt.pieces.formats.timelines.spans import Span
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.pieces.pipeline.simulator import simulate
from gadgetopt.system.declaring import exporter

from ..evaluate import evaluate
from ..instance import SppInstance, SppSolution


def spans(instance: SppInstance, solution: SppSolution) -> list[Span]:
    """Return when each block runs."""
    schedule = simulate(shop_of(instance, solution.plan), solution.orders)
    return pipeline_spans(schedule, solution.plan, "channel")


def decision(instance: SppInstance, spans: Sequence[Span]) -> SppSolution:
    """Return the plan and the orders of its stages and channels."""
    plan, orders = pipeline_decision(spans, "channel")
    return SppSolution.of(plan, orders)


TIMELINES = Timelines("s", spans, decision, evaluate)


@exporter(suffixes=(".csv",))
def gantt(instance: SppInstance, solution: SppSolution) -> Exported:
    """Blocks of stages and channels as a table, one line for each span of time."""
    return TIMELINES.gantt(instance, solution)


def read_gantt(instance: SppInstance, files: Exported) -> SppSolution:
    """Return the solution of a table."""
    return TIMELINES.read_gantt(instance, files)


@exporter(suffixes=(".json",))
def chrome_trace(instance: SppInstance, solution: SppSolution) -> Exported:
    """Blocks of stages and channels as a trace that Perfetto shows."""
    return TIMELINES.trace(instance, solution)


def read_chrome_trace(instance: SppInstance, files: Exported) -> SppSolution:
    """Return the solution of a trace."""
    return TIMELINES.read_trace(instance, files)
