"""A summary across methods: a row per group of instances, a column per method, measures in cells.

It is the table of a page or a paper: `gadgetopt summary STORE --by COLUMN --cells mean,worst`, and
what a study with a `[table]` ends with. A measure `note:NAME` is a number that the method notes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError
from gadgetopt.numbers.text import show, show_gap
from gadgetopt.numbers.tolerance import Number
from gadgetopt.reporting.cells import ratio, seconds
from gadgetopt.reporting.chance import mean_interval
from gadgetopt.reporting.geometric_means import bootstrap_interval, shifted_geometric_mean
from gadgetopt.reporting.summary.columns import spoken, value
from gadgetopt.reporting.summary.documents import escaped
from gadgetopt.reporting.summary.groups import grouped
from gadgetopt.reporting.summary.outcomes import Outcome
from gadgetopt.runs.comparison import Entry
from gadgetopt.runs.study import KNOWN_CELLS, NOTE, is_cell
from gadgetopt.system.result import Voucher

if TYPE_CHECKING:
    from rich.table import Table

_Outcomes = Sequence[Outcome]


@dataclass(frozen=True)
class CrossTable:
    """The table of a system as text.

    Attributes
    ----------
    system : str
    heads : tuple of str
        Columns of the instances, "inst." where groups have several, and methods.
    rows : tuple of tuple of str
    groups : int
        How many of the columns come before those of the methods.
    """

    system: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    groups: int


def checked_cells(names: Sequence[str]) -> tuple[str, ...]:
    """Return the measures that names stand for.

    Raises
    ------
    InputError
        If one is unknown.
    """
    for name in names:
        if not is_cell(name):
            raise InputError(f"--cells: {name!r} is not one of {KNOWN_CELLS}")
    return tuple(names)


def needs_traces(cells: Sequence[str]) -> bool:
    """Return True if a measure is taken from the runs' traces."""
    return any(cell in ("integral", "integral_interval") for cell in cells)


def cross_tables(
    table: Sequence[Entry], by: Sequence[str], cells: Sequence[str]
) -> list[CrossTable]:
    """Return the table of each system.

    Parameters
    ----------
    table : sequence of Entry
    by : sequence of str
        Columns of the instances, as `gadgetopt.summary` takes them.
    cells : sequence of str
        What a cell says of a method in a group of instances, in this order.

    Raises
    ------
    InputError
        If no instance has one of the columns.
    """
    systems: dict[str, dict[tuple[Any, ...], dict[str, list[Outcome]]]] = {}
    methods: dict[str, dict[str, int]] = {}
    for entry in table:  # in the order in which they were first run
        methods.setdefault(entry.result.problem, {})
    for (system, group, method, _), outcomes in grouped(table, by):
        systems.setdefault(system, {}).setdefault(group, {})[method] = outcomes
        methods[system].setdefault(method, len(methods[system]))
    names = tuple(spoken(spec.partition(":")[0]) for spec in by)
    return [
        _table(system, names, systems[system], list(methods[system]), cells) for system in systems
    ]


def _table(
    system: str,
    names: tuple[str, ...],
    groups: dict[tuple[Any, ...], dict[str, list[Outcome]]],
    methods: Sequence[str],
    cells: Sequence[str],
) -> CrossTable:
    counts = {group: max(map(len, own.values())) for group, own in groups.items()}
    several = any(count > 1 for count in counts.values())
    rows = []
    for group, own in groups.items():
        counted = (str(counts[group]),) if several else ()
        measured = (_cell(own[method], cells) if method in own else "" for method in methods)
        rows.append((*map(value, group), *counted, *measured))
    heads = (*names, *(("inst.",) if several else ()), *methods)
    return CrossTable(system, heads, tuple(rows), len(names) + several)


def _cell(outcomes: _Outcomes, cells: Sequence[str]) -> str:
    made = [outcome for outcome in outcomes if outcome.runs]
    if not made:
        return ""
    if all(outcome.errors == outcome.runs for outcome in made):
        return "error"
    return ", ".join(text for cell in cells if (text := _text_of(cell)(made)))


# -- what a cell says ------------------------------------------------------------------------------


_Ends = tuple[float | None, float | None]


def _ratio_of(outcome: Outcome) -> _Ends:
    return outcome.low, outcome.high


def _inverse_of(outcome: Outcome) -> _Ends:
    if outcome.low is None or outcome.high is None:
        return None, None
    return _inverse(outcome.high), _inverse(outcome.low)


def _net_ratio_of(outcome: Outcome) -> _Ends:
    return outcome.net_low, outcome.net_high


def _tightness_of(outcome: Outcome) -> _Ends:
    return outcome.tightness, outcome.tightness


def _interval(
    statistic: Callable[[Sequence[float]], float], of: Callable[[Outcome], _Ends] = _ratio_of
) -> Callable[[_Outcomes], str]:
    """Return the text of a statistic of intervals, with their number if some have none."""

    def text(outcomes: _Outcomes) -> str:
        found = [of(outcome) for outcome in outcomes]
        rated = [(low, high) for low, high in found if low is not None and high is not None]
        if not rated:
            return ""
        ends = (statistic([low for low, _ in rated]), statistic([high for _, high in rated]))
        few = f" ({len(rated)} of {len(outcomes)})" if len(rated) < len(outcomes) else ""
        return ratio(*ends) + few

    return text


def _mean_and_interval(outcomes: _Outcomes) -> str:
    """Return the mean ratio, and how far it could be by chance of the instances."""
    mean = _interval(_mean)(outcomes)
    rated = [(o.low, o.high) for o in outcomes if o.low is not None and o.high is not None]
    if len(rated) < 2:
        return mean
    import numpy as np

    # The same samples in all cells, and at both ends.
    low, _ = mean_interval([low for low, _ in rated], np.random.default_rng(0))
    _, high = mean_interval([high for _, high in rated], np.random.default_rng(0))
    return f"{mean} ({ratio(low, high)})"


def _inverse(x: float) -> float:
    return math.inf if x == 0 else 1 / x


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _median(values: Sequence[float]) -> float:
    from statistics import median

    return float(median(values))


def _number(of: Callable[[Outcome], Number | None]) -> Callable[[_Outcomes], str]:
    """Return the text of a number, of several instances their mean; "" unless all have one."""

    def text(outcomes: _Outcomes) -> str:
        values = [x for o in outcomes if (x := of(o)) is not None]
        if len(values) < len(outcomes):
            return ""
        return show(values[0]) if len(values) == 1 else show(_mean([float(x) for x in values]))

    return text


def _gap(outcomes: _Outcomes) -> str:
    gaps = [o.gap for o in outcomes if o.gap is not None]
    return "" if len(gaps) < len(outcomes) else f"gap {show_gap(_mean(gaps), 2)}"


def _count(of: Callable[[Outcome], bool]) -> Callable[[_Outcomes], str]:
    return lambda outcomes: f"{sum(map(of, outcomes))}/{len(outcomes)}"


def _text_of(cell: str) -> Callable[[_Outcomes], str]:
    """Return what writes a measure."""
    if not cell.startswith(NOTE):
        return _TEXTS[cell]
    name = cell.removeprefix(NOTE)
    return _number(lambda o: o.notes.get(name))


def _geometric(of: Callable[[Outcome], float | None], spread: bool) -> Callable[[_Outcomes], str]:
    """Return the text of a shifted geometric mean of seconds; "" unless all instances have them."""

    def text(outcomes: _Outcomes) -> str:
        values = [x for o in outcomes if (x := of(o)) is not None]
        if len(values) < len(outcomes):
            return ""
        mean = f"{seconds(shifted_geometric_mean(values))} s"
        if not spread or len(values) < 2:
            return mean
        import numpy as np

        # The same samples in all cells: two columns differ by their methods alone.
        low, high = bootstrap_interval(values, np.random.default_rng(0))
        return f"{mean} ({seconds(low)}..{seconds(high)})"

    return text


def _time_of(outcome: Outcome) -> float:
    return outcome.time_s


def _integral_of(outcome: Outcome) -> float | None:
    return outcome.integral_s


#: The text of each measure.
_TEXTS: dict[str, Callable[[_Outcomes], str]] = {
    "mean": _interval(_mean),
    "mean_interval": _mean_and_interval,
    "median": _interval(_median),
    "worst": _interval(max),
    "share": _interval(_mean, _inverse_of),
    "least_share": _interval(min, _inverse_of),
    "net_mean": _interval(_mean, _net_ratio_of),
    "at_optimum": _count(lambda o: o.at_optimum),
    "tightness": _interval(_mean, _tightness_of),
    "objective": _number(lambda o: o.objective),
    "bound": _number(lambda o: o.bound),
    "gap": _gap,
    "solved": _count(lambda o: o.solved),
    "optimal": _count(lambda o: o.optimal is not None),
    "verified": _count(lambda o: o.optimal is Voucher.VERIFIED),
    "time": _geometric(_time_of, spread=False),
    "time_interval": _geometric(_time_of, spread=True),
    "integral": _geometric(_integral_of, spread=False),
    "integral_interval": _geometric(_integral_of, spread=True),
    "mean_time": lambda outcomes: f"{seconds(_mean([o.time_s for o in outcomes]))} s",
    "longest": lambda outcomes: f"{seconds(max(o.time_s for o in outcomes))} s",
}

_MEANINGS: dict[str, str] = {
    "mean": "mean ratio to the optimum, at least 1, a..b if gaps are open",
    "mean_interval": "mean ratio and its 95 % bootstrap interval",
    "median": "median ratio to the optimum, at least 1, a..b if gaps are open",
    "worst": "worst ratio to the optimum",
    "share": "mean inverse of that ratio, at most 1",
    "least_share": "least inverse of that ratio",
    "net_mean": "mean ratio without the part of the objective that no decision changes",
    "at_optimum": "instances whose solution is optimal, whoever proved it",
    "tightness": "mean of the dual bound over the best objective, at most 1",
    "objective": "objective, of several instances the mean",
    "bound": "dual bound, of several instances the mean",
    "gap": "mean gap between the run's objective and its own bound",
    "solved": "instances with a feasible solution",
    "optimal": "instances that the method closed",
    "verified": "those of a verified bound",
    "time": "geometric mean of the seconds, shifted by 1 s",
    "time_interval": "geometric mean of the seconds, shifted by 1 s, and its 95 % bootstrap "
    "interval",
    "integral": "geometric mean of the primal-dual integrals in seconds, shifted by 1 s",
    "integral_interval": "geometric mean of the primal-dual integrals in seconds, shifted by 1 s, "
    "and its 95 % bootstrap interval",
    "mean_time": "mean seconds",
    "longest": "longest run",
}


# -- as text ---------------------------------------------------------------------------------------


def legend(cells: Sequence[str]) -> str:
    """Return what the cells say, in one line."""
    return f"cells: {'; '.join(map(_meaning, cells))}."


def _meaning(cell: str) -> str:
    if cell.startswith(NOTE):
        return f"{cell.removeprefix(NOTE)} as the method notes it, the mean"
    return _MEANINGS[cell]


def markdown(tables: Sequence[CrossTable], cells: Sequence[str]) -> str:
    """Return a table of GitHub's Markdown for each system, and one legend."""
    out = []
    for table in tables:
        heads = [head if k < table.groups else f"`{head}`" for k, head in enumerate(table.heads)]
        out += [f"**{escaped(table.system)}**", "", _line(heads)]
        out += [_line(["---", *["---:"] * (len(heads) - 1)])]
        out += [_line(list(map(escaped, row))) for row in table.rows]
        out.append("")
    return "\n".join([*out, escaped(legend(cells)), ""])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def grid(table: CrossTable) -> Table:
    """Return a table for the terminal."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    out = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=escape(table.system), title_style="bold")
    for k, head in enumerate(table.heads):
        out.add_column(escape(head), justify="left" if k == 0 else "right", overflow="fold")
    for row in table.rows:
        out.add_row(*map(escape, row))
    return out
