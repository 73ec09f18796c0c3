"""A schedule as a trace in JSON: Perfetto and chrome://tracing show it.

Each resource is a process, each of its units a thread; a span is a bar on every unit that it holds.
Units are those that a span says, else the lowest that are free. A trace counts in microseconds: a
second, or a slot or whatever the unit of the schedule is, is shown as a second. The arguments of a
bar have the times as the schedule has them; a reader takes those.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.pieces.formats.timelines.spans import (
    TIME_TOLERANCE,
    Span,
    read_time,
    time_text,
    with_units,
)

#: Microseconds in the trace for one unit of time of the schedule. By definition.
SCALE = 1_000_000


def write_trace(spans: Sequence[Span], unit: str) -> str:
    """Return the spans as a trace."""
    resources = list(dict.fromkeys(span.resource for span in spans))
    processes = {resource: number for number, resource in enumerate(resources)}
    placed = with_units(spans)
    threads = sorted({(processes[span.resource], unit) for span in placed for unit in span.units})
    events: list[dict[str, Any]] = [
        _named("process", number, resource) for resource, number in processes.items()
    ]
    events += [_named("thread", pid, f"unit {tid}", tid) for pid, tid in threads]
    for k, (said, span) in enumerate(zip(spans, placed, strict=True)):
        arguments = {
            "span": k,
            f"start_{unit}": time_text(span.start),
            f"end_{unit}": time_text(span.end),
            "count": span.count,
            "units_are_given": bool(said.units),
            "detail": span.detail,
        }
        events += [
            {
                "ph": "X",
                "name": span.job,
                "cat": "schedule",
                "pid": processes[span.resource],
                "tid": tid,
                "ts": _microseconds(span.start),
                "dur": _microseconds(span.end) - _microseconds(span.start),
                "args": arguments,
            }
            for tid in span.units
        ]
    lines = ",\n".join(json.dumps(event, ensure_ascii=False) for event in events)
    about = json.dumps({"unit_of_time": unit, "microseconds_of_unit": SCALE})
    return f'{{"displayTimeUnit": "ms", "otherData": {about}, "traceEvents": [\n{lines}\n]}}\n'


def _named(what: str, pid: int, name: str, tid: int = 0) -> dict[str, Any]:
    return {"ph": "M", "name": f"{what}_name", "pid": pid, "tid": tid, "args": {"name": name}}


def _microseconds(time: Any) -> float:
    return round(float(time) * SCALE, 3)


def read_trace(text: str, unit: str) -> list[Span]:
    """Return the spans of a trace that `write_trace` wrote.

    Raises
    ------
    InputError
        If it is no such trace, or a bar contradicts its arguments.
    """
    try:
        document = json.loads(text)
    except ValueError as error:
        raise InputError(f"is not JSON: {error}") from None
    events = document.get("traceEvents") if isinstance(document, dict) else None
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise InputError("traceEvents: is missing, expected a list of events")
    resources: dict[object, str] = {}
    bars: defaultdict[int, list[tuple[str, Mapping[str, Any]]]] = defaultdict(list)
    for n, event in enumerate(events):
        where, arguments = f"traceEvents[{n}]", event.get("args")
        if event.get("ph") == "M" and event.get("name") == "process_name":
            resources[_value(event, "pid", int, where)] = _value(
                arguments, "name", str, f"{where}.args"
            )
        elif event.get("ph") == "X":
            bars[_value(arguments, "span", int, f"{where}.args")].append((where, event))
    return [_span(bars[k], resources, unit) for k in sorted(bars)]


def _span(
    bars: Sequence[tuple[str, Mapping[str, Any]]], resources: Mapping[object, str], unit: str
) -> Span:
    """Return the span of its bars, which agree in everything but the unit."""
    where, first = bars[0]
    given = first["args"]
    pid = _value(first, "pid", int, where)
    if pid not in resources:
        raise InputError(f"{where}: pid {pid}: has no process_name")
    units = tuple(_value(bar, "tid", int, at) for at, bar in bars)
    span = Span(
        _value(first, "name", str, where),
        read_time(_value(given, f"start_{unit}", str, f"{where}.args"), f"{where}: start_{unit}"),
        read_time(_value(given, f"end_{unit}", str, f"{where}.args"), f"{where}: end_{unit}"),
        resources[pid],
        _value(given, "count", int, f"{where}.args"),
        units if _value(given, "units_are_given", bool, f"{where}.args") else (),
        _value(given, "detail", str, f"{where}.args"),
    )
    if len(set(units)) != len(units) or len(units) != span.count:
        raise InputError(f"{where}: {len(units)} bars for {span.count} units")
    for at, bar in bars:
        if bar["args"] != given or bar.get("name") != span.job or bar.get("pid") != pid:
            raise InputError(f"{at}: differs from {where}, the first bar of its span")
        start, length = (_value(bar, name, (int, float), at) for name in ("ts", "dur"))
        for stated, right in ((start, span.start), (start + length, span.end)):
            near = math.isclose(stated, float(right) * SCALE, rel_tol=TIME_TOLERANCE, abs_tol=0.01)
            if not near:
                raise InputError(
                    f"{at}: {stated:g} us, but its arguments say {float(right) * SCALE:g} us"
                )
    return span


def _value(given: Any, name: str, kind: Any, where: str) -> Any:
    """Return a value of an object, of the right type."""
    value = given.get(name) if isinstance(given, Mapping) else None
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise InputError(f"{where}: {name} {value!r}, expected {_kind_name(kind)}")
    return value


def _kind_name(kind: Any) -> str:
    return {str: "a text", int: "an integer", bool: "true or false"}.get(kind, "a number")
