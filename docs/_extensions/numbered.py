"""Equation numbers: where a module's docstring defines them and where its code names them.

A number stands at a row of a formula (`tag`, `(4)` in front, `(D5)` behind) or in the text, `(J8)`
or `TI-7`; the code names it in comments, docstrings and the `doc` of constraints.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mathml import number_of_row, split_rows

NUMBER = r"[A-Z]{0,4}-?[0-9]{1,3}(?:\.[0-9]+)?[a-z]?'?"
#: In prose: in brackets, or with letters in front.
IN_TEXT = re.compile(rf"(?<=\()({NUMBER})(?=\))|\b([A-Z]{{1,4}}-?[0-9]{{1,2}}(?:\.[0-9]+)?)\b")
_MATH = re.compile(r"^( *)\.\. math::(.*(?:\n(?: *$|\1 +.*))*)", re.MULTILINE)
_ROLE = re.compile(r":math:`[^`]*`|`[^`]*`")


@dataclass(frozen=True)
class Numbers:
    """Numbers of one module.

    Attributes
    ----------
    paper : frozenset of str
        Those that the docstring names.
    rows : frozenset of str
        Those that stand at a row of a formula.
    code : dict of str to int
        The line of the code that says most about a number: a constraint's, else the first.
    """

    paper: frozenset[str]
    rows: frozenset[str]
    code: dict[str, int]


@cache
def parsed(path: Path) -> tuple[str, int]:
    """Return a module's docstring and the line on which its code begins."""
    tree = ast.parse(path.read_text())
    first = tree.body[0]
    return ast.get_docstring(tree) or "", (first.end_lineno or 1) + 1


def in_text(text: str) -> set[str]:
    """Return the numbers that a text names."""
    return {a or b for a, b in IN_TEXT.findall(text)}


@cache
def numbers_of(path: Path) -> Numbers:
    """Return the numbers of a module."""
    doc, begin = parsed(path)
    rows = set()
    for match in _MATH.finditer(doc):
        for row in split_rows(match[2]):
            rows |= set(re.findall(NUMBER, number_of_row(row)[1]))
    text = _ROLE.sub("", _MATH.sub("", doc))
    best: dict[str, tuple[int, int]] = {}
    for line, comment in _comments(path, begin):
        opening = re.match(r"""[^"'\w(]*["'#]*\s*(?=[(A-Z])""", comment)
        start = opening.end() if opening else 0
        for match in IN_TEXT.finditer(comment):
            label = match[1] or match[2]
            leads = 0 if match.start() <= start + 1 and '"""' not in comment else 1
            best.setdefault(label, (leads, line))
            best[label] = min(best[label], (leads, line))
    code = {label: line for label, (_, line) in best.items()}
    return Numbers(frozenset(rows | in_text(text)), frozenset(rows), code)


def _comments(path: Path, begin: int) -> list[tuple[int, str]]:
    """Return line and text of every line of a comment or string of the code."""
    found = []
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING) and token.start[0] >= begin:
            found += [(token.start[0] + k, t) for k, t in enumerate(token.string.splitlines())]
        elif token.type == getattr(tokenize, "FSTRING_MIDDLE", -1) and token.start[0] >= begin:
            found.append((token.start[0], token.string))
    return found
