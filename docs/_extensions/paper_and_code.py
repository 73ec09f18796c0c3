"""The directive `paper-and-code`: a module's docstring, the model on paper, beside its code.

Every equation number is a link: on paper to the line of the code that states it, in the code back
to the paper. Names such as `y_js` and `phi_j`, which a docstring writes plainly, are set as
formulas. A number that only another module of the folder defines leads to that module's page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docstrings import plain
from docutils import nodes
from docutils.statemachine import StringList
from numbered import IN_TEXT, numbers_of, parsed
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sources import ROOT
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def place(number: str) -> str:
    """Return the name of a number's place on paper."""
    return "eq-" + re.sub(r"[^A-Za-z0-9-]", "_", number)


class PaperAndCode(SphinxDirective):
    """`.. paper-and-code:: models/SYSTEM/formulations/MODULE.py`."""

    required_arguments = 1
    has_content = False

    def run(self) -> list[nodes.Node]:
        """Return the two columns."""
        path = ROOT / self.arguments[0]
        self.env.note_dependency(str(path))
        doc, begin = parsed(path)
        paper = nodes.container(classes=["paper"])
        lines = StringList(plain(doc.splitlines()), source=self.arguments[0])
        self.state.nested_parse(lines, 0, paper)
        _link_paper(paper, path)
        code = nodes.raw("", code_html(path, begin), format="html")
        columns = nodes.container(classes=["paper-and-code"])
        columns += [paper, code]
        return [columns]


def _link_paper(paper: nodes.Element, path: Path) -> None:
    """Make links of the numbers on paper that the code names; the first of each is its place."""
    numbers = numbers_of(path)
    named: set[str] = set()
    known = elsewhere(path)

    def name(label: str) -> str:
        if label in named:
            return ""
        named.add(label)
        return place(label)

    for block in paper.findall(nodes.math_block):
        found = [n for n in sorted(numbers.rows) if n in numbers.code and n in block.astext()]
        others = {n: p for n, p in known.items() if n in numbers.rows and n in block.astext()}
        block["links"] = {n: ("", f"{page}.html#{place(n)}") for n, page in others.items()}
        block["links"] |= {n: (name(n), f"#L{numbers.code[n]}") for n in found}
    for text in list(paper.findall(nodes.Text)):
        if isinstance(text.parent, (nodes.math_block, nodes.math, nodes.literal)):
            continue
        parts = list(_text_parts(text.astext(), numbers.code, name))
        if len(parts) > 1:
            text.parent.replace(text, parts)


#: A letter of either alphabet with an index, and perhaps an exponent, as prose writes it.
_GREEK = (
    "alpha|beta|gamma|delta|epsilon|eta|theta|kappa|lambda|mu|xi|pi|rho|sigma|tau|phi|chi|omega|sum"
)
_SYMBOL = re.compile(
    rf"(?<![\w.`\\])(?:(?P<greek>{_GREEK})|(?P<letter>[A-Za-z]))(?P<power>\^\w)?"
    r"_(?P<index>[A-Za-z0-9]{1,5})(?![\w^]|\.\w)"
)


def _text_parts(text: str, code: dict[str, int], name: Any) -> Iterator[nodes.Node]:
    """Return a text in pieces: numbers as links, names with an index as formulas."""
    start = 0
    found = [*IN_TEXT.finditer(text), *_SYMBOL.finditer(text)]
    for match in sorted(found, key=lambda match: match.start()):
        piece = _number(match, code, name) if match.re is IN_TEXT else _symbol(match)
        if piece is not None and match.start() >= start:
            yield nodes.Text(text[start : match.start()])
            yield piece
            start = match.end()
    yield nodes.Text(text[start:])


def _number(match: re.Match[str], code: dict[str, int], name: Any) -> nodes.Node | None:
    label = match[1] or match[2]
    if label not in code:
        return None
    anchor = name(label)
    where = f' id="{anchor}"' if anchor else ""
    html = f'<a class="eq"{where} href="#L{code[label]}">{escape(label)}</a>'
    return nodes.raw("", html, format="html")


def _symbol(match: re.Match[str]) -> nodes.Node:
    base = f"\\{match['greek']}" if match["greek"] else match["letter"]
    latex = f"{base}{match['power'] or ''}_{{{match['index']}}}"
    return nodes.math(latex, latex)


def code_html(path: Path, begin: int) -> str:
    """Return a module's code after its docstring as HTML, a name and a number for every line."""
    links = {n: f"#{place(n)}" for n in numbers_of(path).paper}
    for label, page in elsewhere(path).items():
        links.setdefault(label, f"{page}.html#{place(label)}")
    html = highlight(path.read_text(), PythonLexer(stripnl=False), HtmlFormatter(nowrap=True))
    lines = html.rstrip("\n").split("\n")
    while begin <= len(lines) and not lines[begin - 1].strip():
        begin += 1
    shown = []
    for number, line in enumerate(lines, 1):
        if number >= begin:
            linked = re.sub(
                r'(<span class="(?:c1|sd|s2|s1|sa|s)">)(.*?)(</span>)',
                lambda m: m[1] + _linked(m[2], links) + m[3],
                line,
            )
            shown.append(
                f'<span class="line" id="L{number}">'
                f'<a href="#L{number}">{number}</a>{linked}</span>'
            )
    name = path.relative_to(ROOT).as_posix()
    body = "\n".join(shown)
    return (
        f'<div class="code-side"><p class="code-name">{name}</p>'
        f'<div class="highlight" tabindex="0"><pre>{body}</pre></div></div>'
    )


def _linked(text: str, links: dict[str, str]) -> str:
    def link(match: re.Match[str]) -> str:
        label = match[1] or match[2]
        return f'<a class="eq" href="{links[label]}">{match[0]}</a>' if label in links else match[0]

    return IN_TEXT.sub(link, text)


def elsewhere(path: Path) -> dict[str, str]:
    """Return the numbers that exactly one other module of the folder has at a formula's row.

    Numbers of one digit are left out: every model counts its own rows from (1).
    """
    found: dict[str, list[str]] = {}
    for other in sorted(path.parent.glob("*.py")):
        if other != path and not other.name.startswith("_"):
            numbers = numbers_of(other)
            for label in numbers.rows & set(numbers.code):
                if re.search(r"[A-Z]|[0-9]{2}", label):
                    found.setdefault(label, []).append(other.stem)
    return {label: pages[0] for label, pages in found.items() if len(pages) == 1}


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("paper-and-code", PaperAndCode)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
