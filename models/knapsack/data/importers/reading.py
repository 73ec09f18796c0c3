"""Read the public formats: OR-Library's two of multi-dimensional knapsacks, and Khan's of MMKP.

All are read word by word, because lines are broken anywhere.

- mknap1, mknapcb1, ..., mknapcb9: the number of problems, and for each n, m, the best value known
  (0: unknown), n profits, m rows of n weights, m capacities.
- mknap2: sections between lines of '+'. A section that only says `problem NAME.DAT` is
  followed by one with the data: m, n (in this order), n profits, m capacities, m rows, optimum. All
  other sections are introduction and skipped, including the example in it.
- MMKP: n groups, l items in each, m rows; m capacities; for each group its number and l lines of
  profit and weights. Text follows, with published solutions and bounds.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.system.reading import read_bytes

from ...instance import Item, KnapsackInstance
from .tokens import Tokens, numbered_lines

_RULE = re.compile(r"\s*\+{4,}\s*")
_TITLE = re.compile(r"problem\s+(\S+)", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(\.\d*)?")


@dataclass(frozen=True)
class NamedKnapsack:
    """A problem of a file.

    Attributes
    ----------
    name : str
    instance : KnapsackInstance
    stated : mapping
        What the file says beyond the data, such as the optimum. Never relied upon.
    """

    name: str
    instance: KnapsackInstance
    stated: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class KnapsackFile:
    """The problems of a file, and the SHA-256 of its bytes."""

    problems: tuple[NamedKnapsack, ...]
    sha256: str


def read_orlib(path: Path) -> KnapsackFile:
    """Read a file of multi-dimensional knapsacks from OR-Library, in either format.

    Problems of mknap2 have the names in the file, others that of the file and a number from 0, as
    in OR-Library's list of best values of mknapcb1 to mknapcb9.

    Raises
    ------
    InputError
        If the file cannot be read or is not of either format.
    """

    def parse(text: str) -> list[NamedKnapsack]:
        sectioned = any(_RULE.fullmatch(line) for line in text.splitlines())
        return _mknap2(path, text) if sectioned else _mknap1(path, text)

    return _read(path, parse)


def read_mmkp(path: Path) -> KnapsackFile:
    """Read a multiple-choice knapsack in Khan's format; exactly one item of each group is chosen.

    Raises
    ------
    InputError
        If the file cannot be read or is not of this format.
    """
    return _read(path, lambda text: [_mmkp(path, text)])


def _read(path: Path, parse: Callable[[str], list[NamedKnapsack]]) -> KnapsackFile:
    content = read_bytes(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text file (byte {error.start} is not UTF-8)") from None
    if not text.strip():
        raise InputError(f"{path}: empty file, expected a knapsack problem")
    return KnapsackFile(tuple(parse(text)), hashlib.sha256(content).hexdigest())


# -- mknap1, mknapcb ---------------------------------------------------------------------------


def _mknap1(path: Path, text: str) -> list[NamedKnapsack]:
    words = Tokens(str(path), list(numbered_lines(text)))
    problems = words.count("the number of problems")
    digits = max(2, len(str(problems - 1)))
    found = []
    for k in range(problems):
        which = f"problem {k}"
        n = words.count(f"the number of variables of {which}")
        m = words.count(f"the number of constraints of {which}")
        stated = words.number(f"the optimum (or 0) of {which}")
        profits = words.numbers(n, f"the profits of {which}")
        rows = [words.numbers(n, f"the weights in constraint {r} of {which}") for r in range(m)]
        capacities = words.numbers(m, f"the capacities of {which}")
        found.append(
            NamedKnapsack(
                f"{path.stem}_{k:0{digits}d}", _single(profits, rows, capacities), _stated(stated)
            )
        )
    words.expect_end(f"the {problems} problems announced")
    return found


# -- mknap2 ------------------------------------------------------------------------------------


def _mknap2(path: Path, text: str) -> list[NamedKnapsack]:
    sections: list[list[tuple[int, str]]] = [[]]
    for number, line in numbered_lines(text):
        if _RULE.fullmatch(line):
            sections.append([])
        elif line.strip():
            sections[-1].append((number, line.strip()))
    found = []
    for section, data in zip(sections, [*sections[1:], []], strict=True):
        title = _TITLE.fullmatch(section[0][1]) if len(section) == 1 else None
        if title:
            found.append(_section(str(path), title[1], section[0][0], data))
    if not found:
        raise InputError(
            f"{path}: no section that says 'problem NAME' between lines of '+', "
            "expected one for every problem"
        )
    return found


def _section(source: str, title: str, line: int, data: Sequence[tuple[int, str]]) -> NamedKnapsack:
    which = f"problem {title}"
    if not data:
        raise InputError(f"{source}: line {line}: {which} has no section of data after it")
    words = Tokens(f"{source}: {which}", data)
    m = words.count("the number of knapsacks")
    n = words.count("the number of objects")
    profits = words.numbers(n, "the profits")
    capacities = words.numbers(m, "the capacities")
    rows = [words.numbers(n, f"the weights in constraint {r}") for r in range(m)]
    stated = words.number("the optimum") if len(words) else Fraction(0)
    words.expect_end("the optimum")
    name = Path(title).stem.lower()
    return NamedKnapsack(name, _single(profits, rows, capacities), _stated(stated))


# -- MMKP --------------------------------------------------------------------------------------


def _mmkp(path: Path, text: str) -> NamedKnapsack:
    lines = list(numbered_lines(text))
    words = Tokens(str(path), lines)
    n = words.count("the number of groups")
    size = words.count("the number of items in each group")
    m = words.count("the number of constraints")
    capacities = words.numbers(m, "the capacities")
    groups = []
    for i in range(1, n + 1):
        number = words.count(f"the number of group {i}")
        if number != i:
            words.next -= 1
            raise words.unexpected(f"{i}, the number of the next group")
        items = []
        for c in range(1, size + 1):
            which = f"item {c} of group {i}"
            profit = words.number(f"the profit of {which}")
            items.append(Item(profit=profit, weights=words.numbers(m, f"the weights of {which}")))
        groups.append(tuple(items))
    if len(words) and _NUMBER.fullmatch(words.words[words.next][0]):
        words.expect_end(f"the {n} groups announced")
    last = words.words[words.next - 1][1]
    instance = KnapsackInstance(capacities=capacities, groups=tuple(groups), exactly_one=True)
    return NamedKnapsack(f"mmkp_{path.stem}", instance, _remarks(lines[last:]))


def _remarks(lines: Sequence[tuple[int, str]]) -> dict[str, Any]:
    """Return the value of the exact solution that the text after the data states, and the bound."""
    said = {"exact solution": "stated_optimum", "upper bound": "stated_upper_bound"}
    found: dict[str, Any] = {}
    for (_, heading), (_, below) in pairwise(lines):
        for words, name in said.items():
            numbers = below.split()
            if words in heading.lower() and numbers and _NUMBER.fullmatch(numbers[-1]):
                found[name] = _written(Fraction(numbers[-1]))
    return found


# ----------------------------------------------------------------------------------------------


def _single(
    profits: Sequence[Fraction], rows: Sequence[Sequence[Fraction]], capacities: Sequence[Fraction]
) -> KnapsackInstance:
    """Return the knapsack in which every item is a group of its own."""
    columns = zip(profits, zip(*rows, strict=True), strict=True)
    return KnapsackInstance(
        capacities=tuple(capacities),
        groups=tuple((Item(profit=p, weights=tuple(a)),) for p, a in columns),
    )


def _stated(value: Fraction) -> dict[str, Any]:
    return {"stated_optimum": _written(value)} if value else {}


def _written(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
