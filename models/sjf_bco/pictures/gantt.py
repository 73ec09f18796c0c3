"""Gantt chart of a schedule: a row per GPU, a bar per job and contention level.

The hue is the job. The darker a bar, the more spread jobs share its links; small pictures also
hatch it. A dark outline marks a job that is spread over several servers.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from gadgetopt.errors import InputError
from gadgetopt.pieces.gangs import assigned_gpus, runs
from gadgetopt.reporting.figures import (
    GREY,
    INK,
    PALE,
    PALETTE,
    RED,
    TEMPLATE,
    mixed,
)
from gadgetopt.system.declaring import picture

from ..evaluate import evaluate, simulate
from ..instance import SjfBcoInstance, SjfBcoSolution
from ..size_limits import refuse_many_gpus

_CLEAR = "rgba(0,0,0,0)"

#: Level of a job that is done but still holds its GPUs, in a schedule with stated completions.
HELD = -1

_COLUMNS = ["job", "server", "first_gpu", "gpus", "row", "start", "end", "level", "rate", "spread"]

#: Up to this many GPUs each GPU has a label; beyond, each server has one.
_LABELLED_GPUS = 32
#: Up to this makespan, every slot is numbered on the axis.
_FEW_TICKS = 20


def assign_gpus(instance: SjfBcoInstance, solution: SjfBcoSolution) -> SjfBcoSolution:
    """Return the schedule with GPU ids; a schedule that has them is returned unchanged.

    They are chosen by `gadgetopt.pieces.gangs`.

    Raises
    ------
    InputError
        If the schedule violates more than the horizon.
    ModelRefused
        If the cluster has too many GPUs to be drawn.
    """
    refuse_many_gpus(instance)
    _check(instance, solution)
    if solution.gpu_ids is not None:
        return solution
    end = [end for _, end in _phases(instance, solution)]
    ids = assigned_gpus(instance.server_gpus, solution.start_slot, end, solution.placement)
    return SjfBcoSolution(
        start_slot=solution.start_slot,
        placement=solution.placement,
        completion_slot=solution.completion_slot,
        gpu_ids=tuple(ids),
    )


def bars(instance: SjfBcoInstance, solution: SjfBcoSolution) -> pd.DataFrame:
    """Return the rectangles of the picture.

    Each row is a job at one contention level on adjacent GPUs of one server: `job`, `server`,
    `first_gpu`, `gpus`, `row` (of the first GPU, counted over all servers), `start`, `end`, `level`
    (0 on one server, `HELD` after completion), `rate` (iterations per slot), `spread`.
    """
    ids = assign_gpus(instance, solution).gpu_ids or ()
    first_row = _first_rows(instance)
    rows = []
    for j, (phases, _) in enumerate(_phases(instance, solution)):
        servers = len(ids[j])
        blocks = [(s, run) for s, held in ids[j].items() for run in runs(sorted(held))]
        for start, end, level in phases:
            rate = 0 if level == HELD else instance.rates.rate(j, servers, level)
            rows += [
                (
                    j,
                    s,
                    run[0],
                    len(run),
                    first_row[s] + run[0],
                    start,
                    end,
                    level,
                    rate,
                    servers > 1,
                )
                for s, run in blocks
            ]
    return pd.DataFrame(rows, columns=_COLUMNS)


@picture(name="gantt")
def plot(instance: SjfBcoInstance, solution: SjfBcoSolution) -> go.Figure:
    """GPUs over time, spread jobs marked.

    Draw a feasible schedule as a Gantt chart of the cluster's GPUs.

    Raises
    ------
    InputError
        If the schedule is infeasible other than by exceeding the horizon.
    """
    table = bars(instance, solution)
    few = instance.total_gpus <= _LABELLED_GPUS
    table["text"] = _hover(instance, solution, table)
    table["label"] = _job_labels(table, few)
    figure = go.Figure()
    levels = sorted({int(level) for level in table.level})
    for level in levels:
        at_level = table[table.level == level]
        shade = _shade(level, levels[-1])
        pattern = _hatching(shade) if few and shade else None
        figure.add_bar(
            **_rectangles(at_level),
            marker={
                "color": [_darkened(_hue(j, level), shade) for j in at_level.job],
                "pattern": pattern,
                "line": {"color": PALE, "width": [0 if s else 0.7 for s in at_level.spread]},
            },
            text=at_level.label,
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": PALE if shade > 0.4 else INK, "size": 13 if few else 10},
            hovertext=at_level.text,
            hoverinfo="text",
            legendgroup=str(level),
            showlegend=False,
        )
        figure.add_bar(  # the legend entry of this level
            orientation="h",
            x=[None],
            y=[None],
            name=_level_name(level),
            marker={
                "color": _darkened(GREY, shade),
                "pattern": pattern,
                "line": {"color": INK, "width": 1 if level > 0 else 0},
            },
            legendgroup=str(level),
        )
    spread = table[table.spread].groupby(["job", "row", "gpus"], as_index=False)
    figure.add_bar(
        **_rectangles(spread.agg(start=("start", "min"), end=("end", "max"))),
        marker={"color": _CLEAR, "line": {"color": INK, "width": 1.8 if few else 0.7}},
        hoverinfo="skip",
        showlegend=False,
    )
    _lay_out(figure, instance, makespan=int(table[table.level != HELD].end.max()), few=few)
    return figure


# -- parts of the picture ----------------------------------------------------------------------


def _rectangles(table: pd.DataFrame) -> dict[str, Any]:
    """Return the bars, as high as their GPUs and as long as their slots."""
    return {
        "orientation": "h",
        "base": table.start,
        "x": table.end - table.start,
        "y": table.row + (table.gpus - 1) / 2,
        "width": table.gpus,
    }


def _lay_out(figure: go.Figure, instance: SjfBcoInstance, *, makespan: int, few: bool) -> None:
    first_row, total = _first_rows(instance), instance.total_gpus
    ticks: list[float] = []
    names: list[str] = []
    for s, (row, held) in enumerate(zip(first_row, instance.server_gpus, strict=True)):
        if few:
            ticks += range(row, row + held)
            names += [f"server {s}, GPU {g}" for g in range(held)]
        else:
            ticks.append(row + (held - 1) / 2)
            names.append(f"server {s} ({held} GPUs)")
    for row in first_row[1:]:
        figure.add_hline(y=row - 0.5, line={"color": INK, "width": 1}, layer="above")
    figure.add_vline(
        x=makespan,
        line={"color": RED, "width": 2, "dash": "dash"},
        annotation={"text": f"makespan {makespan}", "font": {"color": RED}},
        annotation_position="top",
    )
    figure.update_layout(
        title={
            "text": f"{len(instance.jobs)} jobs on {len(instance.server_gpus)} servers",
            "subtitle": {
                "text": "outlined: spread over servers; darker: more jobs share its links"
            },
        },
        barmode="overlay",
        bargap=0,
        template=TEMPLATE,
        height=190 + (max(160, 40 * total) if few else min(1200, max(500, 4 * total))),
        margin={"l": 130, "r": 30, "t": 110, "b": 60},
        legend={"title": {"text": "contention level"}, "traceorder": "normal"},
        uniformtext={"minsize": 8, "mode": "hide"},
        xaxis={
            "title": {"text": "slot"},
            "range": [0, makespan * 1.04],
            "dtick": 1 if makespan <= _FEW_TICKS else None,
            "zeroline": False,
        },
        yaxis={
            "range": [total - 0.5, -0.5],
            "tickvals": ticks,
            "ticktext": names,
            "ticks": "outside",
            "tickcolor": PALE,
            "showgrid": False,
            "zeroline": False,
        },
    )


def _shade(level: int, top: int) -> float:
    """Return how dark a level is: 0 without contention, at most 0.65."""
    return 0.65 * (level - 1) / max(3, top - 1) if level > 1 else 0.0


def _hatching(shade: float) -> dict[str, Any]:
    return {
        "shape": "/",
        "solidity": 0.15 + 0.5 * shade,
        "size": 8,
        "fgcolor": INK,
        "fillmode": "overlay",
    }


def _hue(job: int, level: int) -> str:
    return GREY if level == HELD else PALETTE[job % len(PALETTE)]


def _darkened(colour: str, shade: float) -> str:
    """Mix a colour with the ink colour."""
    return mixed(colour, INK, shade)


def _level_name(level: int) -> str:
    known = {HELD: "done, GPUs still held", 0: "0: on one server", 1: "1: spread, links alone"}
    return known.get(level, f"{level}: shared by {level} jobs")


def _job_labels(table: pd.DataFrame, few: bool) -> list[str]:
    """Return the bar labels: the number of each job, on its largest bar."""
    area = (table.end - table.start) * table.gpus
    largest = set(area.groupby(table.job).idxmax())
    return [(f"job {j}" if few else str(j)) if i in largest else "" for i, j in table.job.items()]


def _hover(instance: SjfBcoInstance, solution: SjfBcoSolution, table: pd.DataFrame) -> list[str]:
    about = []
    for j, (job, y) in enumerate(zip(instance.jobs, solution.placement, strict=True)):
        where = ", ".join(f"{n} on server {s}" for s, n in sorted(y.items()) if n)
        name = f" ({html.escape(job.name)})" if job.name else ""
        about.append(f"<b>job {j}</b>{name}<br>{job.gpus} GPUs: {where}")
    columns = zip(table.job, table.start, table.end, table.level, table.rate, strict=True)
    return [
        f"{about[j]}<br>slots {start} to {end - 1} ({end - start})"
        f"<br>level {_level_name(level)}<br>{rate} iterations per slot"
        for j, start, end, level, rate in columns
    ]


# -- GPUs and phases ---------------------------------------------------------------------------


def _check(instance: SjfBcoInstance, solution: SjfBcoSolution) -> None:
    # Not the guard that pictures share: a schedule that only ends too late has its GPUs all the
    # same, and who asks why it ends too late wants to see it.
    for violation in evaluate(instance, solution).violations:
        if violation.constraint != "horizon":
            raise InputError(f"solution: {violation}, expected a feasible schedule to draw")


def _phases(
    instance: SjfBcoInstance, solution: SjfBcoSolution
) -> Iterator[tuple[list[tuple[int, int, int]], int]]:
    """Yield for each job its (start, end, level) and the instant at which it releases its GPUs."""
    simulation = simulate(instance, solution)
    stated = solution.completion_slot or simulation.completion
    for phases, done, released in zip(
        simulation.phases, simulation.completion, stated, strict=True
    ):
        assert done is not None
        assert released is not None
        held = [(done, released, HELD)] if released > done else []
        yield phases + held, released


def _first_rows(instance: SjfBcoInstance) -> list[int]:
    """Return the row of the first GPU of each server."""
    rows, row = [], 0
    for capacity in instance.server_gpus:
        rows.append(row)
        row += capacity
    return rows
