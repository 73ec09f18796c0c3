"""Schedules as tables and traces: the blocks of stages and links, in seconds."""

from __future__ import annotations

from collections.abc import Sequence

from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.pipelines.spans import pipeline_decision, pipeline_spans
from gadgetopt.pieces.formats.timelines.files import Timelines
from gadgetopt.pieces.formats.timelines.spans import Span
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.system.declaring import exporter

from ..evaluate import evaluate
from ..instance import DappleInstance, DappleSolution
from ..schedule import schedule_of
from .one_pipeline import plan_of


def spans(instance: DappleInstance, solution: DappleSolution) -> list[Span]:
    """Return when each block runs."""
    schedule = schedule_of(shop_of(instance, solution.plan), solution)
    return pipeline_spans(schedule, solution.plan, "link")


def decision(instance: DappleInstance, spans: Sequence[Span]) -> DappleSolution:
    """Return the plan and the orders of its stages and links."""
    plan, orders = pipeline_decision(spans, "link")
    return DappleSolution.of(plan, orders=orders)


TIMELINES = Timelines("s", spans, decision, evaluate)


@exporter(suffixes=(".csv",))
def gantt(instance: DappleInstance, solution: DappleSolution) -> Exported:
    """Blocks of stages and links as a table, one line for each span of time."""
    plan_of("gantt", solution)
    return TIMELINES.gantt(instance, solution)


def read_gantt(instance: DappleInstance, files: Exported) -> DappleSolution:
    """Return the solution of a table."""
    return TIMELINES.read_gantt(instance, files)


@exporter(suffixes=(".json",))
def chrome_trace(instance: DappleInstance, solution: DappleSolution) -> Exported:
    """Blocks of stages and links as a trace that Perfetto shows."""
    plan_of("chrome-trace", solution)
    return TIMELINES.trace(instance, solution)


def read_chrome_trace(instance: DappleInstance, files: Exported) -> DappleSolution:
    """Return the solution of a trace."""
    return TIMELINES.read_trace(instance, files)
