"""Docstrings as text: what a reader of the source takes literally is literal on the site, too.

Docstrings are written to be read as they are: `|J|` is a size, `x_` a name, `*rest` an argument.
To reStructuredText these begin markup, so they are escaped. Code in backticks, formulas, examples
and literal blocks are left alone, and so is *emphasis* that ends on its line. `$x$` is a
formula, and a list in two columns (a name, spaces, a text) becomes a list of definitions.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

_KEPT = re.compile(
    r"(:[a-z:]+:`[^`]*`|``.+?``|`[^`]*`_{0,2}|<https?://\S+>|https?://\S+|\[[0-9]+\]_)"
)
_FORMULA = re.compile(r"(?<![\\$`\w])\$([^$`\s](?:[^$`]*?[^$`\s])?)\$(?!\w)")
_COLUMNS = re.compile(r"^( *)(\S+(?: \S+){0,4}) {2,}(\S.*)$")
_EMPHASIS = re.compile(r"(?<![\w*\\])(\*{1,2})(?=[^\s*])([^*]*[^\s*])\1(?!\w|\*)")
_BLOCK = re.compile(r"^(\s*)(\.\. [a-z-]+::|.*(?<![.:])::\s*$|>>> )")


def plain(lines: list[str]) -> list[str]:
    """Return the lines of a docstring with the characters escaped that only look like markup."""
    lines = _without_columns(_FORMULA.sub(r":math:`\1`", "\n".join(lines)).split("\n"))
    out: list[str] = []
    block: int | None = None  # the indent of what opened a literal block or a directive
    kept = False  # a role or code in backticks goes on from the line before
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if block is not None and line.strip() and indent <= block:
            block = None
        if block is not None:
            out.append(line)
            continue
        if found := _BLOCK.match(line):
            block = len(found[1]) if ">>>" not in found[2] else None
            out.append(line)
            continue
        text, kept = _escaped(line, kept)
        out.append(text)
    return out


def _without_columns(lines: list[str]) -> list[str]:
    """Return lines with every list in two columns as definitions: a name, its text indented."""
    out: list[str] = []
    k = 0
    while k < len(lines):
        end = k
        while end < len(lines) and lines[end].strip():
            end += 1
        out += _definitions(lines[k:end])
        if end < len(lines):
            out.append(lines[end])
        k = end + 1
    return out


def _definitions(paragraph: list[str]) -> list[str]:
    rows = [_COLUMNS.match(line) for line in paragraph]
    if sum(row is not None for row in rows) < 2 or rows[0] is None or "::" in paragraph[0]:
        return paragraph
    if any(re.match(r" *[=-]{4}", line) for line in paragraph):  # a table
        return paragraph
    indent, column = len(rows[0][1]), rows[0].start(3)
    out = []
    for line in paragraph:
        depth = len(line) - len(line.lstrip())
        if depth > indent:
            out.append(" " * (indent + 4) + line.strip())
        elif line[column - 1 : column] == " " and line[column:]:
            out += [line[:column].rstrip(), " " * (indent + 4) + line[column:].strip()]
        else:
            return paragraph
    return out


def _escaped(line: str, kept: bool) -> tuple[str, bool]:
    """Return a line escaped outside of backticks, and whether a backtick is still open."""
    head = ""
    if kept:
        end = line.find("`")
        if end < 0:
            return line, True
        head, line = line[: end + 1], line[end + 1 :]
    tail = ""
    pieces = _KEPT.split(line)
    if pieces[-1].count("`") % 2:
        start = pieces[-1].index("`")
        role = re.search(r":[a-z:]+:$", pieces[-1][:start])
        start = role.start() if role else start
        pieces[-1], tail = pieces[-1][:start], pieces[-1][start:]
    text = "".join(p if k % 2 else _plain_text(p) for k, p in enumerate(pieces))
    return head + text + tail, bool(tail)


def _plain_text(text: str) -> str:
    parts = _EMPHASIS.split(text)
    if len(parts) > 1:  # groups: mark, content
        out = []
        for k in range(0, len(parts) - 1, 3):
            out += [_marks(parts[k]), parts[k + 1] + parts[k + 2] + parts[k + 1]]
        return "".join([*out, _marks(parts[-1])])
    return _marks(text)


def _marks(text: str) -> str:
    text = text.replace("|", r"\|")
    text = re.sub(r"(?<=\w)_(?!\w)", r"\\_", text)
    return re.sub(r"(?<![*\\])\*(?=[^\s*])|(?<=\S)\*(?=\*)|(?<=\*)\*(?=\w)", r"\\*", text)


def _process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = plain(lines)
    if what in ("attribute", "data", "property"):
        lines.insert(0, "")  # else napoleon takes what stands before a colon for the type


def setup(app: Sphinx) -> dict[str, Any]:
    """Escape docstrings before the other extensions read them."""
    app.connect("autodoc-process-docstring", _process, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
