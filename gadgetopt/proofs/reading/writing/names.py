"""Which names the formats of model files hold, and others in place of those that they do not."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from gadgetopt.proofs.reading.decimals import INFINITY
from gadgetopt.proofs.reading.lp import HEADS, REFUSED

#: Longest name that the solvers' readers take.
MOST_CHARACTERS = 255

#: What begins the name of a column that a format does not hold.
COLUMN = "c"

_LP_NAME = re.compile(r"""(?![eE](?:[0-9eE]|$))[\w!"#$%&(),;?@'`{}|~][\w!"#$%&(),.;?@'`{}|~]*""")
#: Words of LP files that are no names.
_LP_WORDS = re.compile(rf"(?:{'|'.join(HEADS.values())}|free|subject|such)", re.IGNORECASE)
_BRACKETS = str.maketrans("[]", "()")


def held_by_mps(name: str) -> bool:
    """Return True if free MPS files hold a name."""
    plain = name.isprintable() and " " not in name and len(name) <= MOST_CHARACTERS
    return plain and bool(name) and name[0] not in "*$" and "'MARKER'" not in name


def held_by_nl(name: str) -> bool:
    """Return True if the files of names beside .nl files hold a name."""
    return bool(name) and name.isprintable()


def held_by_lp(name: str) -> bool:
    """Return True if LP files hold a name, for all readers: no brackets, no signs, no keywords."""
    plain = name.isprintable() and len(name) <= MOST_CHARACTERS and not name[:1].isdigit()
    return (
        plain
        and _LP_NAME.fullmatch(name) is not None
        and not any(words.fullmatch(name) for words in (_LP_WORDS, REFUSED, INFINITY))
    )


def held_names(names: Sequence[str], holds: Callable[[str], bool], letter: str) -> list[str]:
    """Return distinct names that a format holds, the given ones where it holds them.

    Others have parentheses in place of brackets, if that is enough, or are a letter and a number.
    """
    taken = set(names)
    out = []
    for k, name in enumerate(names):
        new = name
        if not holds(name):
            new = name.translate(_BRACKETS)
            if not holds(new) or new in taken:
                new = unlike(f"{letter}{k}", taken)
            taken.add(new)
        out.append(new)
    return out


def names_in_files(columns: Sequence[str]) -> list[set[str]]:
    """Return the names that the files of each column have for it."""
    formats = (held_by_mps, held_by_lp, held_by_nl)
    held = [held_names(columns, holds, COLUMN) for holds in formats]
    return [set(names) for names in zip(columns, *held, strict=True)]


def unlike(name: str, taken: set[str]) -> str:
    """Return a name that is not taken: the given one with underscores."""
    while name in taken:
        name += "_"
    return name
