r"""Formulas as MathML, made when the site is built: no script and no network is needed.

`math-core` translates LaTeX to the MathML that all browsers draw, and refuses what it does not
know; such a formula is a warning of the build, hence an error. The site ships the font that they
are set in (`math_font.py`). Two things are done around it:

- A formula of several rows gets the environment `aligned`, as Sphinx's own renderers do.
- The number of a row, `\tag{F1}`, `(4)\quad &` in front or `& (D5)` behind, goes into a cell of its
  own at the left end, where it is in sight even if the formula has to be scrolled. On pages that
  show a formulation beside its code it is a link.
- A long row of several conditions, which `\quad` separates, goes on in a row below.
"""

from __future__ import annotations

import re
import textwrap
from html import escape
from typing import Any

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)

LABEL = r"\([A-Z]{0,4}[0-9][0-9.]*[a-z]?'?\)"
_TAG = re.compile(r"\\tag\{([^{}]*)\}")
_FRONT = re.compile(
    rf"^\s*&?\s*((?:{LABEL}|-|,\s*|\\text\{{[A-Z]{{1,4}}-?[0-9]+[a-z]?\}})+)\\quad\s*(?=&)"
)
_BACK = re.compile(rf"&+\s*({LABEL}(?:[-,]\s*{LABEL})*)\s*$")
_converter = LatexToMathML(fancy_error=False)


def split_rows(latex: str) -> list[str]:
    r"""Return the rows of a formula: what `\\` separates outside of braces and environments."""
    rows, depth, start = [], 0, 0
    for token in re.finditer(r"\\\\|\\begin\b|\\end\b|\\[{}]|[{}]", latex):
        text = token[0]
        if text in ("{", r"\begin"):
            depth += 1
        elif text in ("}", r"\end"):
            depth -= 1
        elif text == r"\\" and depth == 0:
            rows.append(latex[start : token.start()])
            start = token.end()
    return [*rows, latex[start:]]


#: Signs of a row that fit beside the code; longer ones are folded where they can be.
LONGEST_ROW = 36


def folded(row: str) -> list[str]:
    r"""Return a row in pieces of at most `LONGEST_ROW` signs, as far as `\quad` and `&` allow."""
    pieces, depth, start = [], 0, 0
    for token in re.finditer(r"\\begin\b|\\end\b|\\[{}]|[{}]|\\q?quad(?![a-zA-Z])", row):
        text = token[0]
        if text in ("{", r"\begin"):
            depth += 1
        elif text in ("}", r"\end"):
            depth -= 1
        elif depth == 0 and text.endswith("quad"):
            pieces.append(row[start : token.end()])
            start = token.end()
    pieces.append(row[start:])
    lines = [pieces[0]]
    for piece in pieces[1:]:
        if piece.lstrip().startswith("&") or signs(lines[-1] + piece) <= LONGEST_ROW:
            lines[-1] += piece
        else:
            lines.append(piece)
    return [lines[0], *(f"&{line}" for line in lines[1:])] if "&" in lines[0] else [row]


def signs(latex: str) -> int:
    """Return about how many signs a formula has: a command is one, indices are half as wide."""
    latex = re.sub(r"\\qquad|\\quad", "xx", latex)
    latex = re.sub(r"\\(?:,|;|!|text|mathrm|operatorname)", "", latex)
    indices = "".join(re.findall(r"[_^](\{[^{}]*\}|.)", latex))
    count = len(re.sub(r"[\s{}&_^$]", "", re.sub(r"\\[a-zA-Z]+", "x", latex)))
    return count - len(re.sub(r"[{}]", "", re.sub(r"\\[a-zA-Z]+", "x", indices))) // 2


def number_of_row(row: str) -> tuple[str, str]:
    """Return a row without its number, and the number."""
    if found := _TAG.search(row):
        text = found[1] if found[1].startswith("(") else f"({found[1]})"
        return row.replace(found[0], ""), text
    if found := _FRONT.match(row):
        return row[found.end() :], re.sub(r"\\text\{([^}]*)\}", r"\1", found[1])
    if found := _BACK.search(row):
        return row[: found.start()], found[1]
    return row, ""


def linked(number: str, links: dict[str, tuple[str, str]]) -> str:
    """Return a number as HTML; its parts that have a target are links, with an anchor each."""
    parts = re.split(r"([A-Z]{0,4}-?[0-9][0-9.]*[a-z]?'?)", number)
    out = []
    for k, part in enumerate(parts):
        if k % 2 and part in links:
            anchor, target = links[part]
            name = f' id="{anchor}"' if anchor else ""
            out.append(f'<a class="eq"{name} href="{target}">{escape(part)}</a>')
        else:
            out.append(escape(part))
    return "".join(out)


def translate(latex: str, display: bool) -> str:
    """Return the MathML of one formula."""
    latex = latex.replace("\\\n", "\\ \n")
    return str(_converter.convert_with_local_state(latex, displaystyle=display))


def display(latex: str, links: dict[str, tuple[str, str]] | None = None) -> str:
    """Return a displayed formula, with the numbers of its rows at the right."""
    rows = split_rows(latex.strip())
    if len(rows) > 1 and not rows[-1].strip():
        rows.pop()
    if len(rows) == 1 and len(folded(f"&{rows[0]}")) > 1 and "&" not in rows[0]:
        rows = [f"&{rows[0]}"]
    pairs = [
        (piece, "" if k else number)
        for row, number in map(number_of_row, rows)
        for k, piece in enumerate(folded(row))
    ]
    rows, numbers = map(list, zip(*pairs, strict=True))
    if len(rows) == 1 and "&" not in re.sub(r"\\begin.*\\end", "", rows[0], flags=re.DOTALL):
        body = translate(rows[0], True)
        number = (
            f'<span class="eqno">{linked(numbers[0], links or {})}</span>' if numbers[0] else ""
        )
        return f'<div class="math-row">{number}<div class="math-body">{body}</div></div>'
    return _table(rows, numbers, links or {})


def _table(rows: list[str], numbers: list[str], links: dict[str, tuple[str, str]]) -> str:
    """Return rows as one MathML table; the numbers are the first cells, in sight on a phone."""
    whole = translate(r"\begin{aligned}" + r"\\".join(rows) + r"\end{aligned}", True)
    if not any(numbers):
        return f'<div class="math-row"><div class="math-body">{whole}</div></div>'
    head, table, tail = _outer_table(whole)
    parts = _outer_rows(table)
    if len(parts) != len(numbers):
        raise ValueError(f"{len(parts)} rows in MathML for {len(numbers)} in LaTeX")
    done = []
    for row, number in zip(parts, numbers, strict=True):
        # One element, else a browser puts the brackets of a link on lines of their own.
        text = f"<span>{linked(number, links)}</span>" if number else ""
        text = f'<mtext class="eqno">{text}</mtext>' if text else ""
        opening, _, cells = row.partition(">")
        done.append(f'{opening}><mtd class="eqno">{text}</mtd>{cells}</mtr>')
    return f'<div class="math-row"><div class="math-body">{head}{"".join(done)}{tail}</div></div>'


def _outer_table(mathml: str) -> tuple[str, str, str]:
    start = mathml.index(">", mathml.index("<mtable")) + 1
    end = mathml.rindex("</mtable>")
    return mathml[:start], mathml[start:end], mathml[end:]


def _outer_rows(table: str) -> list[str]:
    """Return the rows of a table without their closing tags."""
    rows, depth, start = [], 0, 0
    for token in re.finditer(r"<(/?)(mtable|mtr)\b[^>]*>", table):
        closing, name = token[1] == "/", token[2]
        if name == "mtable":
            depth += -1 if closing else 1
        elif depth == 0 and closing:
            rows.append(table[start : token.start()])
        elif depth == 0:
            start = token.start()
    return rows


def _visit_inline(self: Any, node: nodes.math) -> None:
    self.body.append(_checked(self, node, lambda: translate(node.astext(), False)))
    raise nodes.SkipNode


def _visit_block(self: Any, node: nodes.math_block) -> None:
    anchor = f' id="{node["ids"][0]}"' if node.get("ids") else ""
    self.body.append(f'<div class="math notranslate nohighlight"{anchor}>')
    if node.get("number"):
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})</span>')
    links = node.get("links")
    # An empty line separates formulas, as in Sphinx's own renderers.
    for part in re.split(r"\n\s*\n", textwrap.dedent(node.astext()).strip()):
        self.body.append(_checked(self, node, lambda part=part: display(part, links)))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def _checked(self: Any, node: nodes.Node, convert: Any) -> str:
    try:
        return str(convert())
    except (LatexError, ValueError) as error:
        where = getattr(self.builder, "current_docname", "")
        logger.warning("formula in %s: %s\n%s", where, error, node.astext(), location=node)
        return f"<code>{escape(node.astext())}</code>"


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(_visit_inline, None), block_renderers=(_visit_block, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
