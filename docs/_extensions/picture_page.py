"""The gallery of pictures: every picture of the library's pages, with what is seen on it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sources import DOCS
from systems import folders

_HEAD = """# Gallery of pictures

Drawn by `gadgetopt solve FILE --plot PICTURE` from solutions that the evaluator accepts; `python
benchmarks/pictures.py --all` draws all of them again. A click leads to the page that explains the
picture.

"""
_IMAGE = re.compile(r"!\[([^\]]*)\]\(\.\./\.\./docs/img/([^)]+)\)")


def generated() -> Iterator[tuple[str, str]]:
    """Return the page."""
    parts = [_HEAD, "::::{grid} 1 1 2 2\n:gutter: 3\n"]
    for folder in folders():
        for text, name in _IMAGE.findall((folder.path / "README.md").read_text()):
            parts.append(
                f":::{{grid-item-card}} {folder.short}\n"
                f":link: systems/{folder.name}\n:link-type: doc\n"
                f":class-item: picture\n\n![{text}](img/docs_img_{name})\n\n{text}\n:::\n"
            )
    parts.append("::::\n\n## The report\n\n![The head of a report](img/docs_img_report.png)\n")
    parts.append("\n`gadgetopt report` writes [a page](report.md) of figures about a store.\n")
    assert (DOCS / "img" / "report.png").is_file()
    yield "pictures.md", "\n".join(parts)
