"""Line, text, numbers and picture of each of the toolkit's values."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError
from gadgetopt.numbers.text import show, show_gap
from gadgetopt.numbers.tolerance import Number
from gadgetopt.reporting.figures import drawn
from gadgetopt.reporting.views import markup
from gadgetopt.reporting.views.overview import overview
from gadgetopt.reporting.words import lines_of, quantity, spaced
from gadgetopt.system.declaration import Picture, Problem
from gadgetopt.system.display import DisplayedResult
from gadgetopt.system.features import features_of
from gadgetopt.system.files import Document, library, read_instance
from gadgetopt.system.methods import methods
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Evaluation, Result
from gadgetopt.trust.infeasibility import status_of, status_voucher

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Lines = list[tuple[str, str]]

#: Violations listed one by one.
MOST_VIOLATIONS = 10


# -- what is shown of anything ---------------------------------------------------------------------


@singledispatch
def line(value: Any) -> str:
    """Return a value in one line."""
    return object.__repr__(value)


@singledispatch
def text(value: Any) -> str:
    """Return a value as text for `print`."""
    return line(value)


@singledispatch
def numbers(value: Any) -> str:
    """Return the numbers of a value as HTML."""
    return markup.heading(line(value))


@singledispatch
def picture(value: Any) -> Figure | None:
    """Return the picture of a value, if it has one."""
    return None


def page(value: Any) -> str:
    """Return numbers and picture as HTML."""
    figure = safe_picture(value)
    return f"<div>{numbers(value)}{'' if figure is None else markup.figure_html(figure)}</div>"


def display(value: Any) -> None:
    """Show a value in IPython: numbers and picture in a notebook, one line on a terminal."""
    from IPython.core.getipython import get_ipython
    from IPython.display import publish_display_data

    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        print(repr(value), file=sys.stdout)
        return
    publish_display_data({"text/html": numbers(value), "text/plain": str(value)})
    figure = safe_picture(value)
    if figure is not None:
        publish_display_data(markup.figure_bundle(figure))


def safe_picture(value: Any) -> Figure | None:
    """Return the picture of a value; None if it cannot be drawn, as nothing else depends on it."""
    try:
        return picture(value)
    except Exception:
        return None


# -- results ---------------------------------------------------------------------------------------


def exactly(x: Number) -> str:
    """Return a number as text, followed by its fraction if that is more exact and short."""
    written = str(x)
    return f"{show(x)} = {written}" if "/" in written and len(written) <= 24 else show(x)


def objective_of(result: Result) -> str:
    """Return the name of a result's objective with its unit, also of a system not installed."""
    try:
        system = result.document.problem if result.document else problem(result.problem)
    except InputError:
        return "objective"
    return quantity(system.objective)


def result_lines(result: Result) -> Lines:
    """Return what is known at the end of a solve, line by line."""
    stopped = f", stopped by {result.limit_hit}" if result.limit_hit else ""
    lines = [
        ("instance", f"{result.instance} ({result.problem})"),
        ("method", f"{result.method} ({result.kind})"),
        ("status", _state(result) + stopped),
    ]
    if result.reason is not None:
        lines.append(("reason", result.reason))
    if result.objective is not None:
        lines.append((objective_of(result), exactly(result.objective)))
    if result.claimed_objective is not None:
        lines.append(("claimed by the method", show(result.claimed_objective)))
    if result.bound is not None:
        lines.append(("dual bound", f"{exactly(result.bound)} ({result.bound_voucher})"))
    if result.gap is not None:
        lines.append(("relative gap", show_gap(result.gap, 2)))
    phases = "".join(f", {name} {s:.3f}" for name, s in result.phases_s.items())
    lines.append(("time", f"{result.time_s:.3f} s{phases}"))
    for key, value in result.notes.items():
        lines += [(spaced(key) if k == 0 else "", said) for k, said in enumerate(lines_of(value))]
    if result.evaluation is not None:
        lines += _violations(result.evaluation)
        lines += [(spaced(k), show(v)) for k, v in result.evaluation.components.items()]
    return lines


def _state(result: Result) -> str:
    """Return the status, with who vouches for it where that is no bound."""
    voucher = status_voucher(result)
    return result.state if voucher is None else f"{result.state} ({voucher})"


def bound_line(proved: Number, said: str, sense: str) -> tuple[str, str]:
    """Return the line on what a certificate proves: a dual bound, or that there is no optimum."""
    settled = status_of(proved, sense)
    if settled is None:
        return "dual bound", f"{exactly(proved)} ({said})"
    return "status", f"{settled} ({said})"


def evaluation_lines(objective: str, evaluation: Evaluation) -> Lines:
    """Return an evaluation line by line; `objective` is the name of the objective."""
    lines = [("feasible", "yes" if evaluation.feasible else "no")]
    if evaluation.objective is not None:
        lines.append((objective, exactly(evaluation.objective)))
    lines += _violations(evaluation, len(evaluation.violations))
    return lines + [(spaced(k), show(v)) for k, v in evaluation.components.items()]


def proof_lines(
    proved: Number | None, gap: float | None, contradiction: str | None, sense: str
) -> Lines:
    """Return what a proof says: its bound, the gap to a solution, and what refutes it."""
    lines = []
    if proved is not None:
        said = "verified" if contradiction is None else "refuted"
        lines.append(bound_line(proved, said, sense))
    if gap is not None:
        lines.append(("relative gap", show_gap(gap, 2)))
    if contradiction is not None:
        lines.append(("error", contradiction))
    return lines


def _violations(evaluation: Evaluation, most: int = MOST_VIOLATIONS) -> Lines:
    lines = [("violation", str(v)) for v in evaluation.violations[:most]]
    more = len(evaluation.violations) - most
    return lines + ([("", f"and {more} more violations")] if more > 0 else [])


def aligned(lines: Lines) -> str:
    """Return names and values as lines of text with the values below each other."""
    width = max((len(name) for name, _ in lines), default=0)
    return "\n".join(f"{name:<{width}}  {value}".rstrip() for name, value in lines)


@line.register(Result)
def _(value: Result) -> str:
    parts = [_state(value)]
    if value.objective is not None:
        parts.append(f"{objective_of(value)} {exactly(value.objective)}")
    if value.bound is not None:
        parts.append(f"bound {exactly(value.bound)} ({value.bound_voucher})")
    if value.reason is not None:
        parts.append(value.reason if len(value.reason) <= 100 else f"{value.reason[:97]}...")
    parts.append(f"{value.time_s:.2f} s")
    return f"<Result of {value.method} on {value.instance}: {', '.join(parts)}>"


@text.register(Result)
def _(value: Result) -> str:
    return aligned(result_lines(value))


@numbers.register(Result)
def _(value: Result) -> str:
    head, *lines = result_lines(value)
    return markup.heading(f"{value.method}", f"on {head[1]}") + markup.pairs(lines[1:])


@picture.register(Result)
def _(value: Result) -> Figure | None:
    if value.document is None or value.solution is None or value.objective is None:
        return None
    return _of_solution(value.document.problem, value.document.data, value.solution)


@line.register(Evaluation)
def _(value: Evaluation) -> str:
    if value.feasible:
        said = "feasible"
    else:
        more = f" (and {len(value.violations) - 1} more)" if len(value.violations) > 1 else ""
        said = f"infeasible: {value.violations[0]}{more}"
    objective = "" if value.objective is None else f", objective {exactly(value.objective)}"
    return f"<Evaluation: {said}{objective}>"


@text.register(Evaluation)
def _(value: Evaluation) -> str:
    return aligned(evaluation_lines("objective", value))


@numbers.register(Evaluation)
def _(value: Evaluation) -> str:
    return markup.pairs(evaluation_lines("objective", value))


@line.register(DisplayedResult)
def _(value: DisplayedResult) -> str:
    inner = line(value.result).removeprefix("<Result of ").removesuffix(">")
    name = type(value).__name__
    if value.ratio is None:
        return f"<{name}: {inner}>"
    low, high = ("?" if x is None else show(x) for x in (value.ratio.low, value.ratio.high))
    return f"<{name}: {inner}, ratio {low if low == high else f'{low} to {high}'}>"


@numbers.register(DisplayedResult)
def _(value: DisplayedResult) -> str:
    return numbers(value.result)


@picture.register(DisplayedResult)
def _(value: DisplayedResult) -> Figure | None:
    return picture(value.result)


# -- documents -------------------------------------------------------------------------------------


@line.register(Document)
def _(value: Document) -> str:
    sizes = _sizes(value) if value.kind == "instance" else ""
    return f"<{value.kind.capitalize()} {value.name} of {value.problem.name}{sizes}>"


def _sizes(document: Document) -> str:
    try:
        size = document.problem.size(document.data)
    except Exception:  # a record that a user builds may be of a wrong type
        return ""
    return "".join(
        f"{', ' if k else ': '}{spaced(name)} {value}"
        for k, (name, value) in enumerate(size.items())
    )


@numbers.register(Document)
def _(value: Document) -> str:
    head = markup.heading(value.name, f"{value.kind} of {value.problem.name}")
    origin = [(spaced(k), short(v)) for k, v in value.origin.items()]
    lines: Lines = []
    if value.kind == "instance":
        lines += [(spaced(k), str(v)) for k, v in value.problem.size(value.data).items()]
        features = features_of(value.problem, value.data)
        lines += [(spaced(k), f"{v:.4g}") for k, v in features.items()]
    elif value.kind == "solution" and value.instance is not None:
        found = value.problem.evaluate(value.instance.data, value.data)
        lines += evaluation_lines(quantity(value.problem.objective), found)
    fields = [(name, short(getattr(value.data, name))) for name in type(value.data).model_fields]
    parts = head + (markup.pairs(lines) if lines else "")
    parts += markup.folded("data", markup.pairs(fields))
    return parts + (markup.folded("origin", markup.pairs(origin)) if origin else "")


def short(value: Any) -> str:
    """Return a value in at most 80 characters, lists by their length and beginning."""
    if isinstance(value, tuple | list) and len(value) > 3:
        return f"{len(value)} entries: {short(value[0])}, ..."
    if isinstance(value, Mapping):
        return ", ".join(f"{spaced(k)} {short(v)}" for k, v in list(value.items())[:12])
    said = str(value)
    return said if len(said) <= 80 else f"{said[:77]}..."


@picture.register(Document)
def _(value: Document) -> Figure | None:
    if value.kind == "instance":
        return overview(value.data)
    if value.kind == "solution" and value.instance is not None:
        return _of_solution(value.problem, value.instance.data, value.data)
    return None


def first_picture(system: Problem, of: str) -> Picture | None:
    """Return the first picture of solutions, or of instances, that a system declares."""
    return next((p for p in system.pictures if p.of == of), None)


def _of_solution(system: Problem, instance: Any, solution: Any) -> Figure | None:
    chosen = first_picture(system, "solution")
    return None if chosen is None else drawn(system, chosen, instance, solution)


# -- problems --------------------------------------------------------------------------------------


@line.register(Problem)
def _(value: Problem) -> str:
    return f"<Problem {value.name}: {value.title}, {value.verb} {quantity(value.objective)}>"


@numbers.register(Problem)
def _(value: Problem) -> str:
    cited = value.citation
    where = f"{cited.authors}, {cited.title}, {cited.venue} {cited.year}"
    goal = f"{value.verb} {quantity(value.objective)}"
    head = markup.heading(f"{value.name}: {value.title}") + markup.pairs(
        [("objective", goal), ("paper", where), ("default method", value.default_method)]
    )
    parts = {
        "formulations": [
            (f.name, f"{f.model_class}, {f.strength}; {f.summary}") for f in value.formulations
        ],
        "methods": [(m.name, f"{m.kind}; {m.summary}") for m in methods(value)],
        "theorems": [(g.name, f"{g.standing}; {g.statement}") for g in value.guarantees],
        "presets": [(g.name, g.summary) for g in value.generators],
        "formats": [(i.format, i.summary) for i in value.importers],
        "exports": [(e.format, e.summary) for e in value.exporters],
        "pictures": [(p.name, f"{p.summary} (of the {p.of})") for p in value.pictures],
    }
    return head + "".join(
        markup.folded(f"{len(lines)} {name}", markup.pairs(lines))
        for name, lines in parts.items()
        if lines
    )


@picture.register(Problem)
def _(value: Problem) -> Figure | None:
    quickstart = library() / "quickstart" / f"{value.name}.json"
    return overview(read_instance(quickstart).data) if quickstart.is_file() else None
