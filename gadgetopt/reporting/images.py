"""Figures as files: pages for the browser, JSON, and PNG, SVG or PDF for pages, slides and papers.

Plotly draws in a browser. For PNG, SVG and PDF the extra `images` (kaleido) starts a Chromium or
Chrome that is installed, without a window, and needs no network. `write_figures` draws many figures
in one browser: starting it takes longer than a figure.
"""

from __future__ import annotations

import copy
import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.reporting.figures import check_plotly
from gadgetopt.system.output import whole_file

#: Suffixes that are drawn by a browser, those of the extra `images`.
IMAGES = (".png", ".svg", ".pdf")
#: Every suffix that a figure is written to.
SUFFIXES = (".html", ".json", *IMAGES)

#: Size in CSS pixels (1/96 inch) of a figure that does not say its own.
WIDTH_PX, HEIGHT_PX = 1000, 500
#: Pixels of a PNG file per CSS pixel: print and sharp screens show about this many.
PNG_SCALE = 2

#: Seconds until a browser that does not start, or does not draw, is given up.
_START_S, _DRAW_S = 60, 90

_CLEAR = "rgba(0,0,0,0)"


def check_figure_file(option: str, path: Path | None) -> None:
    """Refuse a file that no figure can be written to, before the work whose figure it is.

    Raises
    ------
    InputError
        If the suffix is unknown, or if it needs plotly, kaleido or a browser that is not installed;
        the line begins with `option` and says what to install.
    """
    if path is None:
        return
    check_plotly(f"{option}: {path}")
    if path.suffix not in SUFFIXES:
        raise InputError(
            f"{option}: {path}: {path.suffix or 'no suffix'}, expected one of {', '.join(SUFFIXES)}"
        )
    if path.suffix in IMAGES:
        _browser(f"{option}: {path}")


def write_figure(
    figure: Any,
    path: Path,
    *,
    width_px: int | None = None,
    height_px: int | None = None,
    png_scale: float = PNG_SCALE,
    transparent: bool = False,
) -> None:
    """Write a figure, in the form that the file's suffix says.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
    path : Path
        .html, .json, .png, .svg or .pdf.
    width_px, height_px : int, optional
        Size in CSS pixels, 1/96 inch; by default the figure's own, else 1000 by 500. Text keeps its
        size, so that a narrow figure has larger text on paper. Pages are as wide as their window.
    png_scale : float, default 2
        Pixels of a PNG file per CSS pixel.
    transparent : bool, default False
        Without the white background.

    Raises
    ------
    InputError
        As `check_figure_file`; if the file cannot be written; or if the browser cannot draw it.
    """
    write_figures([(figure, path)], width_px=width_px, height_px=height_px, transparent=transparent)


def write_figures(
    figures: Iterable[tuple[Any, Path]],
    *,
    width_px: int | None = None,
    height_px: int | None = None,
    png_scale: float = PNG_SCALE,
    transparent: bool = False,
) -> None:
    """Write figures to files, drawing all of them in one browser; see `write_figure`."""
    drawn: list[tuple[dict[str, Any], Path]] = []
    for figure, path in figures:
        check_figure_file("figure", path)
        if path.suffix in IMAGES:
            drawn.append((_sized(figure, width_px, height_px, transparent), path))
        else:
            _write_page(figure, path, transparent)
    if drawn:
        _write_images(drawn, png_scale)


def _write_page(figure: Any, path: Path, transparent: bool) -> None:
    if transparent:
        figure = copy.deepcopy(figure).update_layout(paper_bgcolor=_CLEAR, plot_bgcolor=_CLEAR)
    with whole_file(path) as part:
        if path.suffix == ".html":
            # Leave out the library's button for sharing, which uploads the chart.
            here = {"showSendToCloud": False, "plotlyServerURL": ""}
            figure.write_html(part, include_plotlyjs=True, config=here)
        else:
            figure.write_json(part)


def _sized(
    figure: Any, width_px: int | None, height_px: int | None, transparent: bool
) -> dict[str, Any]:
    """Return a figure as a dictionary, with a size and with room for every label."""
    spec: dict[str, Any] = copy.deepcopy(figure.to_dict())
    layout = spec["layout"]
    layout["width"] = width_px or layout.get("width") or WIDTH_PX
    layout["height"] = height_px or layout.get("height") or HEIGHT_PX
    # A file cannot be scrolled or zoomed: no label may be cut.
    layout.setdefault("xaxis", {})
    layout.setdefault("yaxis", {})
    for name, axis in layout.items():
        if re.fullmatch(r"[xy]axis\d*", name):
            axis["automargin"] = True
    if transparent:
        layout["paper_bgcolor"] = layout["plot_bgcolor"] = _CLEAR
    _freeze(layout)
    return spec


def _freeze(layout: dict[str, Any]) -> None:
    """Leave out menus and sliders, which a file cannot offer; the subtitle says what they show."""
    layout.pop("updatemenus", None)
    said = []
    for slider in layout.pop("sliders", ()):
        step = slider["steps"][slider.get("active", 0)]
        said.append(f"{slider.get('currentvalue', {}).get('prefix', '')}{step.get('label', '')}")
    if not said:
        return
    subtitle = layout.setdefault("title", {}).setdefault("subtitle", {})
    subtitle["text"] = "; ".join(x for x in (subtitle.get("text"), *said) if x)


# -- the browser -----------------------------------------------------------------------------------


def _browser(place: str) -> str:
    """Return the path of the browser that draws; refuse if it, or kaleido, is not installed."""
    try:
        import kaleido  # noqa: F401
        from choreographer.browsers.chromium import Chromium
    except ImportError:
        raise InputError(
            f"{place}: needs the extra `images`: pip install 'gadgetopt[images]' (.html and .json "
            "need nothing)"
        ) from None
    path: str | None = Chromium.find_browser(skip_local=False)
    if path is None or not Path(path).is_file():
        named = os.environ.get("BROWSER_PATH")
        missing = f"BROWSER_PATH={named} is no file" if named else "none is installed"
        raise InputError(
            f"{place}: is drawn by Chromium or Chrome, and {missing}: apt-get install chromium, or "
            "plotly_get_chrome, or set BROWSER_PATH (.html and .json need none)"
        )
    return path


def _write_images(drawn: Sequence[tuple[dict[str, Any], Path]], png_scale: float) -> None:
    """Draw figures in one browser, in a thread of their own: a notebook's runs a loop already."""
    import asyncio
    import threading

    failed: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(_draw(drawn, png_scale))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="gadgetopt-images")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


async def _draw(drawn: Sequence[tuple[dict[str, Any], Path]], png_scale: float) -> None:
    import asyncio

    from choreographer.errors import BrowserFailedError
    from kaleido import Kaleido, PageGenerator

    # Without MathJax, which would come from the network.
    page = PageGenerator(mathjax=False)
    page.header = page.header.replace("Kaleido-fier", "gadgetopt")  # the title of a PDF file
    browser = Kaleido(page_generator=page, timeout=_DRAW_S)
    path = drawn[0][1]
    try:
        await asyncio.wait_for(browser.open(), _START_S)
        for spec, path in drawn:
            form = path.suffix[1:]
            scale = png_scale if form == "png" else 1
            made = await browser.calc_fig(spec, opts={"format": form, "scale": scale})
            with whole_file(path) as part:
                part.write_bytes(_repeatable(made, form))
    except InputError:
        raise
    except BrowserFailedError:
        raise InputError(
            f"{path}: is drawn by {_browser(str(path))}, which does not start"
        ) from None
    except Exception as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{path}: the browser could not draw it: {said[:300]}") from error
    finally:
        await browser.close()


def _repeatable(made: bytes, form: str) -> bytes:
    """Return a file without what differs from one drawing to the next: time and random names."""
    if form == "pdf":
        return re.sub(rb"(?<=Date \(D:)\d{14}", b"20000101000000", made)
    if form == "svg":
        random = re.search(rb'id="defs-([0-9a-f]{6})"', made)
        if random is not None:
            # Names stay different between figures, which one page may hold several of.
            plain = made.replace(random[1], b"000000")
            return made.replace(random[1], hashlib.sha256(plain).hexdigest()[:6].encode())
    return made
