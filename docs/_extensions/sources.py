"""The folder that Sphinx reads: pages of the repository, each at its place on the site.

Pages stay where they are and read well there. A copy goes into the site's sources, with its links
turned to the site's pages. A link to a file that is no page becomes a download of it, a link to a
folder plain text. A link to nothing ends the build. A picture that is drawn for phones as well,
`NAME_narrow.svg`, is followed by that one, and the style sheet shows one of the two.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
_CODE = re.compile(
    r"(^```.*?^```|`[^`\n]*\[[^`\n]*\]\([^`\n]*`|\$[^$\n]+\$|\$\$.*?\$\$)", re.DOTALL | re.MULTILINE
)


class Sources:
    """Files of the site's sources; whatever is not written again is removed at the end."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.written: set[Path] = set()

    def write(self, name: str, text: str) -> None:
        """Write a page; one that has not changed keeps its time, so that Sphinx leaves it alone."""
        path = self.folder / name
        self.written.add(path)
        if path.is_file() and path.read_text() == text:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def copy(self, source: Path, name: str) -> None:
        """Copy a picture or a download."""
        path = self.folder / name
        self.written.add(path)
        if path.is_file() and path.stat().st_mtime >= source.stat().st_mtime:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, path)

    def finish(self) -> None:
        """Remove what an earlier build wrote and this one did not."""
        for path in sorted(self.folder.rglob("*"), reverse=True):
            if path.is_dir():
                if not any(path.iterdir()):
                    path.rmdir()
            elif path not in self.written:
                path.unlink()


def pages() -> dict[Path, str]:
    """Return the name on the site of every page of the repository."""
    found = {}
    for path in sorted(DOCS.rglob("*.md")):
        if not path.relative_to(DOCS).parts[0].startswith(("_", ".", "site")):
            found[path] = path.relative_to(DOCS).with_suffix("").as_posix()
    for path in sorted((ROOT / "models").rglob("README.md")):
        name = "_".join(path.relative_to(ROOT / "models").parts[:-1])
        found[path] = f"systems/{name or 'index'}"
    for name in ("CHANGELOG", "CONTRIBUTING"):
        found[ROOT / f"{name}.md"] = name.lower()
    found[ROOT / "README.md"] = "index"  # what links to it leads to the first page
    return found


def relative(target: str, page: str) -> str:
    """Return the path from a page to a file of the sources."""
    return os.path.relpath(target, start=Path(page).parent.as_posix() or ".")


def copied(path: Path, page: str, known: dict[Path, str], sources: Sources) -> str:
    """Return the text of a page of the repository with its links turned to the site's pages."""

    def turned(match: re.Match[str]) -> str:
        image, text, link = match.groups()
        if re.match(r"[a-z]+:", link) or link.startswith("#"):
            return match[0]
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve()
        if target.parent.parent == DOCS and target.stem == "index":
            return match[0]  # a list that is written when the site is built
        if target in known:
            mark = f"#{anchor}" if anchor else ""
            return f"[{text}]({relative(known[target], page)}.md{mark})"
        if target.is_dir():
            return text if "`" in text else f"`{text}`"
        if not target.is_file():
            raise SystemExit(f"{path.relative_to(ROOT)}: link to nothing: {link}")
        if not image:
            return f"[{text}]({placed(target, 'files')})"
        shown = f"![{text}]({placed(target, 'img')})"
        narrow = target.with_stem(f"{target.stem}_narrow")
        if not narrow.is_file():
            return shown
        small = f"![{text}]({placed(narrow, 'img')})"
        return f"{shown}{{.for-wide-screens}}\n{small}{{.for-phones}}"

    def placed(target: Path, folder: str) -> str:
        """Copy a file to the site and return where the page finds it."""
        name = f"{folder}/{target.relative_to(ROOT).as_posix().replace('/', '_')}"
        sources.copy(target, name)
        return relative(name, page)

    parts = _CODE.split(path.read_text())
    return "".join(p if k % 2 else _LINK.sub(turned, p) for k, p in enumerate(parts))
