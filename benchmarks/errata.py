"""The entries of docs/errata.md: every statement checked again, written between the page's marks.

No study checks statements and writes a page of them.

Run `python benchmarks/errata.py` to write them, `--print` to print them instead.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gadgetopt.cli.checking import row_of
from gadgetopt.system.declaration import Problem
from gadgetopt.trust.statements import chosen

PAGE = Path(__file__).parents[1] / "docs" / "errata.md"
BEGIN, END = "<!-- entries -->", "<!-- /entries -->"
WIDTH = 138
#: First words of sentences that are symbols and take no capital.
SYMBOLS = {"phi", "rho", "xi", "zeta", "eta", "delta", "alpha", "beta", "sigma", "theta", "mu"}

#: How sure a refutation is, by its grade.
SURE = {
    "refuted": "refuted by a counterexample",
    "dimensions": "refuted: the units do not fit",
    "ambiguous": "refuted in one of its readings",
    "contradiction": "refuted: it contradicts the authors' own text, settings, figures or source",
    "not reproducible": "refuted: not reproducible from what is printed",
}


def main() -> None:
    """Check all statements and write the page's entries."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--print", action="store_true", dest="printed")
    rows = [(system, row_of(system, statement)) for system, statement in chosen(())]
    text = "\n".join(_page(rows))
    if parser.parse_args().printed:
        print(text)
        return
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def _page(rows: list[tuple[Problem, dict[str, Any]]]) -> Iterator[str]:
    refuted = [(system, row) for system, row in rows if row["verdict"] == "refuted"]
    at_hand = [(system, row) for system, row in refuted if not row["reconstructed"]]
    ours = [(system, row) for system, row in refuted if row["reconstructed"]]
    yield (
        f"{len(rows)} statements: {len(at_hand)} refuted of papers whose text was at hand, "
        f"{len(ours)} of our reconstructions, {len(rows) - len(refuted)} hold."
    )
    yield "\n## Papers whose text was at hand"
    yield from _entries(at_hand)
    yield "\n## Our reconstructions\n"
    yield textwrap.fill(
        "The text of these papers was not at hand. The entries speak of the reconstruction that "
        "the system's page describes, or of standard theory that it uses; the paper itself may "
        "say something else. Some of these statements nobody claims: they are what a reader of an "
        "algorithm may take for granted.",
        WIDTH,
    )
    yield from _entries(ours)
    yield "\n## Checked, and they hold\n"
    yield "| statement | where | what it says | what the check shows | proof |"
    yield "|---|---|---|---|---|"
    for _, row in rows:
        if row["verdict"] == "holds":
            where = row["source"] + (" (reconstructed)" if row["reconstructed"] else "")
            cells = (f"`{row['name']}`", where, row["statement"], row["shown"], row["proof"])
            yield "| " + " | ".join(cells) + " |"


def _entries(rows: list[tuple[Problem, dict[str, Any]]]) -> Iterator[str]:
    last = ""
    for system, row in rows:
        paper = f"{system.citation.authors}, *{system.citation.title}*"
        if paper != last:
            last = paper
            yield "\n" + textwrap.fill(paper + ":", WIDTH) + "\n"
        sure = SURE[row["grade"]]
        if not row["counterexample"]:
            sure = sure.replace("by a counterexample", "by arithmetic")
            sure += "" if "arithmetic" in sure else ", by arithmetic"
        repair = f"{row['repair']}. Why: {row['proof']}."
        names = {method.name for method in system.methods}
        yield f"### {row['name']}\n\n{_cell(row['source'], names)}: *{sure}*.\n"
        yield "| | |\n|---|---|"
        yield from (
            f"| **{head}** | {_cell(text, names)} |"
            for head, text in (
                ("Says", f"{row['statement']}."),
                ("Counterexample", f"{row['shown']}."),
                ("Repair", repair),
            )
        )
        for command in row["commands"][1:]:
            yield f"\n`{command}`"
        yield ""


def _cell(text: str, methods: set[str]) -> str:
    """Return a sentence as a table's cell has it: methods as code, a capital before a word."""
    called = r"(?<![\w`])([a-z]\w*(?:[:@][\w=.]+)*)(?= (?:has|finds) |: error)"

    def as_code(match: re.Match[str]) -> str:
        return f"`{match[1]}`" if re.split("[:@]", match[1])[0] in methods else match[1]

    text = re.sub(called, as_code, text).replace("|", "\\|")
    first = re.match(r"[a-z]+(?=[ ,-]|$)", text)
    word = first is not None and first[0] not in SYMBOLS and (len(first[0]) > 1 or first[0] == "a")
    return text[0].upper() + text[1:] if word else text


if __name__ == "__main__":
    main()
