"""Work that holds units of a resource for a time."""

from __future__ import annotations

import heapq
import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import Number

#: Relative difference up to which times in a file and computed ones agree. Files
#: hold decimals of doubles. By definition.
TIME_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Span:
    """Work that holds some units of a resource from its start to its end.

    Attributes
    ----------
    job : str
        What runs, such as "job 3" or "2F0".
    start, end : int or Fraction
        In the unit of the file.
    resource : str
        Such as "server 2".
    count : int
        Units of the resource, such as GPUs.
    units : tuple of int
        Which ones; empty if nothing says so.
    detail : str
        What else the decision says of it.
    """

    job: str
    start: Number
    end: Number
    resource: str
    count: int = 1
    units: tuple[int, ...] = ()
    detail: str = ""


def number_in(text: str, word: str, what: str) -> int:
    """Return the number of a name such as "job 3".

    Raises
    ------
    InputError
        If it is no such name; the line begins with `what`.
    """
    found = re.fullmatch(rf"{re.escape(word)} (0|[1-9][0-9]{{0,17}})", text)
    if found is None:
        raise InputError(f"{what}: {text!r}, expected {word} 0, {word} 1, ...")
    return int(found[1])


def by_number(spans: Sequence[Span], word: str, count: int) -> list[list[Span]]:
    """Return the spans of each job by the number in its name; some jobs may have none.

    Raises
    ------
    InputError
        If a name has no number below `count`.
    """
    found: list[list[Span]] = [[] for _ in range(count)]
    for span in spans:
        number = number_in(span.job, word, "job")
        if number >= count:
            raise InputError(f"job: {span.job!r}, but the instance has {count}")
        found[number].append(span)
    return found


def whole_time(span: Span) -> tuple[int, int]:
    """Return start and end of a span whose times are whole numbers.

    Raises
    ------
    InputError
        If one is not.
    """
    for time in (span.start, span.end):
        if Fraction(time).denominator != 1:
            raise InputError(
                f"{span.job} on {span.resource}: {float(time):g}, expected a whole number"
            )
    return int(span.start), int(span.end)


def joined(spans: Sequence[Span]) -> list[Span]:
    """Join spans that follow each other and differ in nothing but their times."""
    last: dict[Span, int] = {}  # the place of the latest span like this one
    found: list[Span] = []
    for span in spans:
        like = replace(span, start=0, end=0)
        k = last.get(like)
        if k is not None and found[k].end == span.start:
            found[k] = replace(found[k], end=span.end)
        else:
            last[like] = len(found)
            found.append(span)
    return found


def with_units(spans: Sequence[Span]) -> list[Span]:
    """Give every span that says none the lowest units of its resource that are free.

    Spans that say their units keep them; a resource has either kind.
    """
    free: defaultdict[str, list[int]] = defaultdict(list)
    opened: defaultdict[str, int] = defaultdict(int)
    held: defaultdict[str, list[tuple[Number, int]]] = defaultdict(list)
    placed: list[Span] = list(spans)
    for k in sorted(range(len(spans)), key=lambda k: (spans[k].start, spans[k].end, k)):
        span = spans[k]
        if span.units:
            continue
        here, ends = free[span.resource], held[span.resource]
        while ends and ends[0][0] <= span.start:
            heapq.heappush(here, heapq.heappop(ends)[1])
        units = []
        for _ in range(span.count):
            if here:
                units.append(heapq.heappop(here))
            else:
                units.append(opened[span.resource])
                opened[span.resource] += 1
        for unit in units:
            heapq.heappush(ends, (span.end, unit))
        placed[k] = replace(span, units=tuple(units))
    return placed


def check_times(found: Sequence[Span], expected: Sequence[Span]) -> None:
    """Hold the times that a file states against those that its decision has.

    Raises
    ------
    InputError
        If a span is missing, is not of this decision, or starts or ends at another time.
    """
    largest = max((abs(float(span.end)) for span in expected), default=0.0)
    of_name = defaultdict(list)
    for span in expected:
        of_name[span.job, span.resource, span.count, span.detail].append(span)
    for spans in of_name.values():
        spans.sort(key=lambda span: (span.start, span.end), reverse=True)
    for span in sorted(found, key=lambda span: (span.start, span.end)):
        right = of_name[span.job, span.resource, span.count, span.detail]
        if not right:
            raise InputError(
                f"{span.job} on {span.resource} from {float(span.start):g}: is there once too often"
            )
        computed = right.pop()
        for word, stated, value in (
            ("starts", span.start, computed.start),
            ("ends", span.end, computed.end),
        ):
            if not math.isclose(stated, value, rel_tol=0, abs_tol=TIME_TOLERANCE * largest):
                raise InputError(
                    f"{span.job} on {span.resource}: {word} at {float(stated):g}, but these "
                    f"decisions make it {float(value):g}"
                )
    missing = next((span for spans in of_name.values() for span in spans), None)
    if missing is not None:
        raise InputError(f"{missing.job} on {missing.resource}: is missing")


def time_text(time: Number) -> str:
    """Return a time as a decimal: whole numbers exactly, others with the digits of a double."""
    if Fraction(time).denominator == 1:
        return str(int(time))
    return repr(float(time))


def read_time(text: str, what: str) -> Fraction:
    """Return the time of a decimal.

    Raises
    ------
    InputError
        If it is none; the line begins with `what`.
    """
    if not re.fullmatch(r"-?[0-9]{1,40}(\.[0-9]{1,40})?(e[+-]?[0-9]{1,3})?", text, re.ASCII):
        raise InputError(f"{what}: {text!r}, expected a decimal number")
    return Fraction(text)
