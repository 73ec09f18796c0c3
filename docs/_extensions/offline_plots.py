"""Figures of notebooks without a network: plotly's library is loaded from the site's own files.

A notebook may ask plotly's host for it, or hold its 4.8 MB itself so that it works alone; on the
site one copy serves all pages.
"""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

_HOSTED = re.compile(r'<script[^>]*src="https://cdn\.plot\.ly/[^"]*"[^>]*></script>')


@cache
def _library() -> Path:
    import plotly

    return Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


@cache
def _inline() -> str:
    return _library().read_text(encoding="utf-8").strip()


def _turn(app: Sphinx, pagename: str, templatename: str, context: Any, doctree: Any) -> None:
    body = context.get("body", "")
    held = "plotly.js v" in body and _inline() in body
    if held:
        body = body.replace(_inline(), "")
    if held or _HOSTED.search(body):
        # In the page, as the figures' scripts run before those at its end.
        source = context["pathto"]("_static/plotly.min.js", 1)
        context["body"] = f'<script src="{source}"></script>' + _HOSTED.sub("", body)


def _copy(app: Sphinx, error: Exception | None) -> None:
    if error is None:
        shutil.copy(_library(), Path(app.outdir) / "_static" / "plotly.min.js")


def setup(app: Sphinx) -> dict[str, Any]:
    """Turn the pages that show a figure."""
    app.connect("html-page-context", _turn)
    app.connect("build-finished", _copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
