"""Figures as plain JSON, which the browser draws and tests can read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from gadgetopt.reporting.html_report.style import Style

#: Most points in a figure; the caption says if points are left out.
MOST_POINTS = 3000

Trace = dict[str, Any]


@dataclass(frozen=True)
class Variant:
    """A variant of a figure: its curves and axes."""

    label: str
    traces: Sequence[Trace]
    layout: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """A figure with title and caption; the reader selects one of its variants.

    Attributes
    ----------
    choice : str
        Label of the selection.
    """

    name: str
    title: str
    caption: str
    variants: Sequence[Variant]
    choice: str = ""

    @property
    def empty(self) -> bool:
        """True if there is nothing to draw."""
        return not any(variant.traces for variant in self.variants)

    def spec(self) -> dict[str, Any]:
        """Return the JSON from which the browser draws the figure."""
        return {
            "variants": [
                {**asdict(variant), "traces": [_plain(t) for t in variant.traces]}
                for variant in self.variants
            ]
        }


def lines(label: str, look: Style, x: Sequence[float], y: Sequence[float], **more: Any) -> Trace:
    """Return a step curve of a method: each value holds until the next point."""
    return {
        "type": "scatter",
        "mode": "lines",
        "meta": label,
        "name": label,
        "x": x,
        "y": y,
        "line": {"color": look.colour, "dash": look.dash, "width": 2, "shape": "hv"},
        **more,
    }


def points(label: str, look: Style, x: Sequence[float], y: Sequence[float], **more: Any) -> Trace:
    """Return markers of a method."""
    return {
        "type": "scatter",
        "mode": "markers",
        "meta": label,
        "name": label,
        "x": x,
        "y": y,
        "marker": {"color": look.colour, "symbol": look.symbol, "size": 7, "opacity": 0.8},
        **more,
    }


def ratio_axis(values: Sequence[float]) -> dict[str, Any]:
    """Return an axis for ratios: logarithmic if they differ by more than a factor of three."""
    largest = max((v for v in values if math.isfinite(v)), default=1.0)
    if largest > 3:
        return log_axis(1.0, largest)
    room = max(0.02, (largest - 1) * 0.06)
    return {"range": [1 - room, largest + room]}


def log_axis(least: float, largest: float) -> dict[str, Any]:
    """Return a logarithmic axis with labels at 1, 2 and 5 times powers of ten, as space allows."""
    low, high = math.log10(least), math.log10(largest)
    room = 0.03 * (high - low) + 0.01
    steps = (1, 1.5, 2, 3, 5, 7) if high - low < 1 else (1, 2, 5) if high - low < 3 else (1,)
    powers = range(math.floor(low), math.ceil(high) + 1)
    ticks = [step * 10.0**power for power in powers for step in steps]
    shown = [x for x in ticks if low - room <= math.log10(x) <= high + room]
    return {
        "type": "log",
        "range": [low - room, high + room],
        "tickvals": shown,
        "ticktext": [_label(x) for x in shown],
    }


def _label(x: float) -> str:
    power = math.log10(x)
    if power >= 5 and abs(power - round(power)) < 1e-9:
        return f"10<sup>{round(power)}</sup>"
    return f"{x:,.10g}"


def share_axis(title: str) -> dict[str, Any]:
    """Return an axis from 0 to 100 %."""
    return {"title": {"text": title}, "range": [-0.02, 1.03], "tickformat": ".0%"}


def fair_share(points: int, methods: int) -> int:
    """Return how many points each method may draw, so that the figure has room for all."""
    return points if points <= MOST_POINTS else max(1, MOST_POINTS // methods)


def thinned(indices: Sequence[int], most: int = MOST_POINTS) -> list[int]:
    """Thin out indices that are sorted by importance to at most `most`.

    Half of the result are the most important ones, the others are evenly spread over the rest.
    """
    if len(indices) <= most:
        return list(indices)
    first, rest = indices[: most // 2], indices[most // 2 :]
    step = math.ceil(len(rest) / (most - len(first)))
    return [*first, *rest[::step]]


def _plain(value: Any) -> Any:
    """Return JSON: numbers with nine digits, infinities and unknown numbers as null."""
    if isinstance(value, float):
        return float(f"{value:.9g}") if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value
