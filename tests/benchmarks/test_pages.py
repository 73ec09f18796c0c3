"""Tables of measurements on the pages name the command that prints them, and scripts what they do.

A table is one of measurements if it has at least six numbers and they are a third of its cells. The
command stands before or after it, nearer than another table or heading. Counts of the page itself,
between marks, need none.
"""

import ast
import re
from pathlib import Path

import pytest

from gadgetopt.system.registry import problem_names

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "measurements").glob("*.md")),
    *sorted((ROOT / "models").rglob("README.md")),
]
#: A cell that says a number, maybe with a unit or a bracket after it.
NUMBER = re.compile(r"[<>≤~*`\s]*[+-]?\d[\d,.]*\s*(?:%|s|ms|us|MB|GB)?(?![\w-])")
LEAST_NUMBERS, LEAST_SHARE = 6, 1 / 3
#: A call of a script, a study, a test, or the command line on files.
COMMAND = re.compile(r"python benchmarks/\w+\.py|pytest \S|gadgetopt\s+[a-z]+ ")
#: A script and the words after it in its line.
CALL = re.compile(r"python benchmarks/(\w+)\.py((?: +[^\s`|#]+)*)")


def parts(page):
    """Yield the tables of a page, each with the text around it, up to other tables and headings."""
    blocks = [[]]
    fenced = False
    for line in page.read_text(encoding="utf-8").splitlines():
        fenced ^= line.startswith("```")
        heading = line.startswith("#") and not fenced
        table = line.startswith("|") and not fenced
        if heading or table != bool(blocks[-1] and blocks[-1][-1].startswith("|")):
            blocks.append([])
        blocks[-1].append(line)
    for k, block in enumerate(blocks):
        if block and block[0].startswith("|"):
            after = blocks[k + 1] if k + 1 < len(blocks) else []
            around = [*blocks[k - 1], *(after if after and not after[0].startswith("#") else [])]
            yield block, " ".join(around)


def counts_its_page(around):
    return "<!-- counts -->" in around


def is_of_measurements(table):
    cells = [cell.strip() for row in table[2:] for cell in row.strip("|").split("|")[1:]]
    numbers = sum(bool(NUMBER.match(cell)) for cell in cells)
    return numbers >= max(LEAST_NUMBERS, LEAST_SHARE * len(cells))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_a_table_of_measurements_names_its_command(page):
    silent = [
        table[0]
        for table, near in parts(page)
        if is_of_measurements(table) and not COMMAND.search(near) and not counts_its_page(near)
    ]
    assert silent == []


def test_tables_of_measurements_are_found():
    assert sum(is_of_measurements(table) for page in PAGES for table, _ in parts(page)) > 100


def test_what_pages_ask_of_a_script_is_a_word_that_it_knows():
    """After a script stands a part that it has, an option of it, or a system."""
    for page in PAGES:
        for script, words in CALL.findall(page.read_text(encoding="utf-8")):
            text = (BENCHMARKS / f"{script}.py").read_text(encoding="utf-8")
            given = words.split()
            for k, word in enumerate(given):
                if word in problem_names() or (k and given[k - 1].startswith("-")):
                    continue
                if re.fullmatch(r"[a-z_]+", word):
                    assert re.search(rf"[\"'\[]{word}[\"'\]]", text), f"{page}: {script} {word}"
                elif word.startswith("--"):
                    assert f'"{word}"' in text, f"{page}: {script} {word}"


@pytest.mark.parametrize("script", sorted(BENCHMARKS.glob("*.py")), ids=lambda p: p.stem)
def test_a_script_says_first_what_no_study_measures(script):
    text = script.read_text(encoding="utf-8")
    if "__main__" in text:  # the others are imported by one
        second = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[1]
        assert re.match(r"No study \w+ .+\.$", second.replace("\n", " "))


#: Bytes of a page that is read at once. A system's page takes ten minutes, a family's twenty.
MOST_BYTES = {
    "README.md": 7_168,
    "docs/proofs.md": 3_072,
    "docs/defaults.md": 3_072,
    "models/README.md": 5_120,
    "models/bgl/README.md": 20_480,
}
MOST_OF_A_SYSTEM = 15_360
#: A page on one thing takes as long; records of measurements and the list of errata are looked up.
MOST_OF_A_PAGE = 20_480


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_a_page_is_as_long_as_its_reader_has_time(page):
    name = page.relative_to(ROOT).as_posix()
    most = MOST_BYTES.get(name)
    if most is None and name.startswith("models/"):
        most = MOST_OF_A_SYSTEM
    if most is None and page.parent.name == "docs" and page.stem != "errata":
        most = MOST_OF_A_PAGE
    assert most is None or len(page.read_bytes()) <= most, f"{name}: {len(page.read_bytes())} bytes"
