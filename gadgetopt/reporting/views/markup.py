"""Tables and figures as fragments of HTML.

Text and lines have the colour of the page around them, so that a dark notebook shows them as well
as a light one. A figure keeps its own white ground.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_CELL = "padding:.15em .8em .15em 0;text-align:{align};vertical-align:top;border:0"
_HEAD = f"{_CELL};border-bottom:1px solid currentColor;font-weight:600"
_TABLE = "border-collapse:collapse;margin:.3em 0;font-variant-numeric:tabular-nums"

#: What plotly names JSON of a figure. JupyterLab, VS Code and marimo draw it without a network.
PLOTLY = "application/vnd.plotly.v1+json"
#: Leave out the library's button for sharing, which uploads the chart.
CONFIG = {"showSendToCloud": False, "plotlyServerURL": "", "responsive": True}


def heading(text: str, more: str = "") -> str:
    """Return a heading and a smaller remark behind it."""
    small = f' <span style="opacity:.75">{escape(more)}</span>' if more else ""
    return f'<div style="margin:.3em 0"><strong>{escape(text)}</strong>{small}</div>'


def paragraph(text: str) -> str:
    """Return a sentence on a line of its own."""
    return f'<div style="margin:.3em 0">{escape(text)}</div>'


def pairs(lines: Iterable[tuple[str, str]]) -> str:
    """Return names and values as a table of two columns."""
    cell = _CELL.format(align="left")
    rows = "".join(
        f'<tr><td style="{cell};opacity:.75">{escape(name)}</td>'
        f'<td style="{cell}">{escape(value)}</td></tr>'
        for name, value in lines
    )
    return f'<table style="{_TABLE}"><tbody>{rows}</tbody></table>'


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[str]) -> str:
    """Return a table with a head; the columns in `numeric` are aligned at the right."""
    align = ["right" if name in numeric else "left" for name in columns]
    head = "".join(
        f'<th style="{_HEAD.format(align=a)}">{escape(name)}</th>'
        for name, a in zip(columns, align, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{_CELL.format(align=a)}">{escape(value)}</td>'
            for value, a in zip(row, align, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<div style="overflow-x:auto"><table style="{_TABLE}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def folded(title: str, content: str) -> str:
    """Return a part that is opened by a click."""
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def figure_bundle(figure: Figure) -> dict[str, Any]:
    """Return a figure as the outputs from which a notebook chooses one."""
    content = json.loads(figure.to_json())
    return {
        PLOTLY: {**content, "config": CONFIG},
        "text/html": figure_html(figure),
        "text/plain": "",
    }


def figure_html(figure: Figure) -> str:
    """Return a figure as HTML whose drawing library the browser loads once, from plotly's host.

    The library is 4.8 MB; a figure alone is some kilobytes.
    """
    return str(figure.to_html(full_html=False, include_plotlyjs="cdn", config=CONFIG))
