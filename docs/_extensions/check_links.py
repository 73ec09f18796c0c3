"""Reads the site's HTML as a browser without a network would, and says what is broken.

Links and anchors that lead nowhere, files loaded from elsewhere, formulas that were not rendered.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: LaTeX that stands in text is a formula that nobody rendered.
_RAW = re.compile(
    r"\$(?=[^\s$])[^$\n]*\\[a-zA-Z]+[^$\n]*\$|\$\$|\\\(|\\\[|\\(?:frac|sum|text|le|ge)(?![a-z])"
)
_LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("link", "href"),
}
_SILENT = {"script", "style", "code", "pre", "annotation", "title"}
_VOID = {
    "br",
    "hr",
    "img",
    "input",
    "link",
    "meta",
    "source",
    "wbr",
    "col",
    "area",
    "base",
    "embed",
}


class Page(HTMLParser):
    """Anchors, links, loaded files and raw formulas of one page."""

    def __init__(self, html: str):
        super().__init__()
        self.anchors: set[str] = {"", "top"}
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.raw: list[str] = []
        self._open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag names and where it leads."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[key] for key in ("id", "name") if key in values}
        if tag == "merror":
            self.raw.append("merror")
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        for element, attribute in _LOADED:
            if tag == element and attribute in values and values.get("rel") != "canonical":
                self.loaded.append(values[attribute])
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Leave a tag, and those inside it that need no end."""
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        """Look for formulas in text."""
        if not _SILENT & set(self._open):
            self.raw += _RAW.findall(data)


def problems_of(site: Path) -> list[str]:
    """Return a line for everything that is broken."""
    paths = sorted(site.rglob("*.html"))
    with ProcessPoolExecutor() as pool:
        read = dict(zip(map(str, paths), pool.map(_page, paths, chunksize=16), strict=True))
    there = {str(site), *map(str, site.rglob("*"))}
    return [
        line for path, page in read.items() for line in _problems(site, path, page, read, there)
    ]


def _page(path: Path) -> Page:
    return Page(path.read_text())


def _problems(
    site: Path, path: str, page: Page, read: dict[str, Page], there: set[str]
) -> Iterator[str]:
    name, folder = os.path.relpath(path, site), os.path.dirname(path)
    for formula in page.raw:
        yield f"{name}: formula is not rendered: {formula}"
    for link in page.loaded:
        if urlsplit(link).scheme not in ("", "data"):
            yield f"{name}: loaded from elsewhere: {link}"
    for link in {*page.links, *page.loaded}:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = os.path.normpath(os.path.join(folder, unquote(parts.path))) if parts.path else path
        if target not in there:
            yield f"{name}: link to nothing: {link}"
        elif (
            parts.fragment
            and target in read
            and unquote(parts.fragment) not in read[target].anchors
        ):
            yield f"{name}: no such place: {link}"
