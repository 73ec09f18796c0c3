"""Text of others as a terminal may show it: control characters are escaped."""

from __future__ import annotations

import re

#: Control characters but tab and line feed, marks that turn the direction of text, and what is no
#: character at all.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Return a text without control characters, which could move the cursor or hide a line.

    Examples
    --------
    >>> print(printable("red \x1b[31m, bell \a, line\nfeed"))
    red \x1b[31m, bell \x07, line
    feed
    """
    return _CONTROLS.sub(lambda found: ascii(found[0])[1:-1], text)


def printable_line(text: str) -> str:
    r"""Return a text as one line without control characters.

    Examples
    --------
    >>> print(printable_line("two\nlines"))
    two\nlines
    """
    return printable(text.replace("\n", "\\n").replace("\t", " "))
