"""One word for one thing: pages and messages use the glossary's words and not those it replaced.

The list stands in `docs/glossary.md`, below "Words that we do not use". Code, links, names of
options and titles of papers, which pages set in italics, keep their words.
"""

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "measurements").glob("*.md")),
    *sorted((ROOT / "docs" / "notebooks").glob("*.md")),
    *sorted((ROOT / "models").rglob("README.md")),
]
MODULES = [*sorted((ROOT / "gadgetopt").rglob("*.py")), *sorted((ROOT / "models").rglob("*.py"))]
#: What is no prose on a page: fenced code, formulas, code, addresses, and titles in italics.
NO_PROSE = re.compile(
    r"^```.*?^```|\$\$.*?\$\$|\$[^$\n]+\$|`[^`\n]*`|\]\([^)]*\)|(?<!\*)\*[^*|]+\*(?!\*)",
    re.DOTALL | re.MULTILINE,
)
#: A message is a text of at least so many words.
LEAST_WORDS = 3


def replaced():
    """Return the words that the glossary replaced, each with what stands for it."""
    table = GLOSSARY.read_text(encoding="utf-8").split("## Words that we do not use")[1]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", table, re.MULTILINE)
    return {old: new for new, olds in rows[1:] for old in olds.split(", ")}


REPLACED = replaced()
WRONG = re.compile(
    rf"(?<![\w-])(?:{'|'.join(map(re.escape, REPLACED))})s?(?![\w=\[-])", re.IGNORECASE
)


def wrong_words(text):
    """Return a line for every word of a text that the glossary replaced."""
    found = {match[0].lower() for match in WRONG.finditer(" ".join(text.split()))}
    return sorted(f"{word!r}, the glossary says {stands_for(word)!r}" for word in found)


def stands_for(word):
    return REPLACED.get(word) or REPLACED[word.removesuffix("s")]


@functools.cache
def messages():
    """Return the texts that a user may read, each with its module."""
    return [(path, text) for path in MODULES for text in texts(path)]


def texts(path):
    """Yield a module's strings, and the help of commands."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = set()  # docstrings of the library, and parts of f-strings, which are read whole
    for node in ast.walk(tree):
        scope = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        if scope and ast.get_docstring(node) and path.parent.name != "cli":
            silent.add(node.body[0].value)
        if isinstance(node, ast.JoinedStr):
            silent.update(node.values)
    for node in ast.walk(tree):
        if node in silent:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(v.value if isinstance(v, ast.Constant) else "{}" for v in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if len(text.split()) >= LEAST_WORDS:
            yield re.sub(r"`[^`]*`", "``", text)


def test_the_list_is_read():
    assert REPLACED["witness"] == "counterexample"
    assert len(REPLACED) > 20
    assert wrong_words("Its timeouts, and a sub-problem") == [
        "'sub-problem', the glossary says 'subproblem'",
        "'timeouts', the glossary says 'limit'",
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_a_page_uses_the_words_of_the_glossary(page):
    text = page.read_text(encoding="utf-8")
    if page == GLOSSARY:
        text = text.split("## Words that we do not use")[0]
    assert wrong_words(NO_PROSE.sub(" ", text)) == []


def test_messages_use_the_words_of_the_glossary():
    wrong = {
        f"{path.relative_to(ROOT)}: {word}: {text[:100]}"
        for path, text in messages()
        for word in wrong_words(text)
    }
    assert sorted(wrong) == []


def test_messages_are_found():
    assert len(messages()) > 4000
