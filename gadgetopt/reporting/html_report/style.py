"""The style of a method in all figures of its system: colour, marker and dash."""

from __future__ import annotations

from dataclasses import dataclass

#: Okabe and Ito's colours that stand out on both white and black, then those furthest from them and
#: from each other, also for readers without red or green cones (Machado's simulation, CIELAB).
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
    "#5500FF", "#993322", "#66CC77", "#3377FF",
)  # fmt: skip

#: Plotly's marker names, with the same shapes as SVG paths for the legend.
SYMBOLS = {
    "circle": "M4,0A4,4 0 1 1 -4,0A4,4 0 1 1 4,0Z",
    "square": "M-3.5,-3.5H3.5V3.5H-3.5Z",
    "diamond": "M0,-5L5,0L0,5L-5,0Z",
    "triangle-up": "M0,-4.5L4.5,3.5H-4.5Z",
    "cross": "M-1.6,-4.5H1.6V-1.6H4.5V1.6H1.6V4.5H-1.6V1.6H-4.5V-1.6H-1.6Z",
    "triangle-down": "M0,4.5L4.5,-3.5H-4.5Z",
    "x": "M-4,-2L-2,-4L0,-2L2,-4L4,-2L2,0L4,2L2,4L0,2L-2,4L-4,2L-2,0Z",
    "star": "M0,-5L1.3,-1.6H5L2,0.6L3.1,4.2L0,2L-3.1,4.2L-2,0.6L-5,-1.6H-1.3Z",
}

#: Plotly's dash names, with SVG dash arrays for the legend.
DASHES = {"solid": "", "dash": "8,4", "dot": "2,3", "dashdot": "8,3,2,3"}


@dataclass(frozen=True)
class Style:
    """The style of a method."""

    colour: str
    symbol: str
    dash: str

    @property
    def path(self) -> str:
        """The marker as an SVG path."""
        return SYMBOLS[self.symbol]

    @property
    def dashes(self) -> str:
        """The dash as an SVG dash array."""
        return DASHES[self.dash]


def style(i: int) -> Style:
    """Return the style of the i-th method.

    The first ten colours differ, and the first forty pairs of colour and dash.
    """
    symbols, dashes = list(SYMBOLS), list(DASHES)
    return Style(
        COLOURS[i % len(COLOURS)],
        symbols[i % len(symbols)],
        dashes[(i + i // 20) % len(dashes)],
    )
