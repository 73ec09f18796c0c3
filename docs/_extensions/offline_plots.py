"""Figures of notebooks without a network: plotly's library is loaded from the site's own files."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

_HOSTED = re.compile(r'<script[^>]*src="https://cdn\.plot\.ly/[^"]*"[^>]*></script>')


def _turn(app: Sphinx, pagename: str, templatename: str, context: Any, doctree: Any) -> None:
    if _HOSTED.search(body := context.get("body", "")):
        context["body"] = _HOSTED.sub("", body)
        app.add_js_file("plotly.min.js", priority=100)


def _copy(app: Sphinx, error: Exception | None) -> None:
    import plotly

    library = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
    shutil.copy(library, Path(app.outdir) / "_static" / "plotly.min.js")


def setup(app: Sphinx) -> dict[str, Any]:
    """Turn the pages that show a figure."""
    app.connect("html-page-context", _turn)
    app.connect("build-finished", _copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
