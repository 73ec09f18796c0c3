"""Shared parts of pictures: colours, the style of bars, and a feasibility check."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError

if TYPE_CHECKING:
    from gadgetopt.system.declaration import Picture, Problem

#: Paul Tol's light scheme: distinguishable by colour-blind readers, light enough for labels.
PALETTE = ("#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff", "#44bb99", "#bbcc33")
BLUE, ORANGE, YELLOW, PINK, CYAN, MINT, PEAR = PALETTE
#: Paul Tol's bright scheme, for lines and for areas without labels.
BRIGHT = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377")
INK, PALE, GREY, RED = "#222222", "#ffffff", "#dddddd", "#aa0000"

TEMPLATE = "plotly_white"
#: A legend in one row above the axes, at the right.
LEGEND_ABOVE = {"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom"}
#: Horizontal bars with centred labels, as in a Gantt chart.
BAR: dict[str, Any] = {
    "orientation": "h",
    "textposition": "inside",
    "insidetextanchor": "middle",
    "textangle": 0,
    "textfont": {"color": INK},
    "hoverinfo": "text",
}


def check_plotly(what: str) -> None:
    """Refuse a figure or a report where plotly is not installed.

    Parameters
    ----------
    what : str
        An option or a command, with which the line begins.

    Raises
    ------
    InputError
        It says what to install.
    """
    try:
        import plotly  # noqa: F401
    except ImportError:
        raise InputError(
            f"{what}: needs the extra `report`: pip install 'gadgetopt[report]'"
        ) from None


#: The name of the line below a figure that says what it shows.
NOTE = "note"


def add_note(figure: Any, text: str) -> None:
    """Write below a figure what it shows; lines are divided by "<br>"."""
    figure.add_annotation(
        name=NOTE,
        text=text,
        xref="paper",
        yref="paper",
        x=0,
        y=0,
        yshift=-60,
        xanchor="left",
        yanchor="top",
        showarrow=False,
        align="left",
        font={"size": 11},
    )


def without_note(figure: Any) -> str:
    """Take the note below a figure away and return it as one line; "" if there is none."""
    kept: list[Any] = []
    notes: list[Any] = []
    for annotation in figure.layout.annotations:
        (notes if annotation.name == NOTE else kept).append(annotation)
    if notes:
        figure.layout.annotations = kept
        figure.update_layout(margin={"b": 60})
    return " ".join(note.text.replace("<br>", " ") for note in notes)


def limited(figure: Any, axis: str, ends: tuple[float, float]) -> None:
    """Have all x or y axes of a figure lead from one number to another.

    Raises
    ------
    InputError
        If an axis is logarithmic and a number is not positive, or it has names instead of numbers.
    """
    for each in figure.select_xaxes() if axis == "x" else figure.select_yaxes():
        if each.type == "category" or (each.tickvals and each.type != "log"):
            raise InputError(f"--{axis}lim: the {axis} axis has names, expected one of numbers")
        if each.type == "log":
            if min(ends) <= 0:
                low, high = ends
                raise InputError(
                    f"--{axis}lim: {low:g},{high:g}: the {axis} axis is logarithmic, expected "
                    "positive numbers"
                )
            each.range = [math.log10(x) for x in ends]
        else:
            each.range = list(ends)


def mixed(colour: str, other: str, part: float) -> str:
    """Mix a colour, "#rrggbb", with a part of another."""
    pairs = ((int(colour[k : k + 2], 16), int(other[k : k + 2], 16)) for k in (1, 3, 5))
    return "#" + "".join(f"{round((1 - part) * c + part * d):02x}" for c, d in pairs)


def drawn(
    problem: Problem,
    picture: Picture,
    instance: Any,
    solution: Any = None,
    place: str = "solution",
) -> Any:
    """Return the figure that a picture draws of an instance or of a feasible solution.

    Raises
    ------
    InputError
        If the solution is infeasible; the line begins with `place`.
    """
    if picture.of == "instance":
        return picture.draw(instance)
    for violation in problem.evaluate(instance, solution).violations:
        raise InputError(f"{place}: is infeasible: {violation}")
    return picture.draw(instance, solution)
