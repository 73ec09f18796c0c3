"""Read a text of numbers word by word, with errors that say where and what was expected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from gadgetopt.errors import InputError

_DECIMAL = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,2})?")

#: A larger count means a misread file rather than a knapsack.
_LARGEST_COUNT = 10**7


class Tokens:
    """The words of some lines of a file, read from the first to the last.

    Parameters
    ----------
    source : str
        Name of the file, with which every error begins.
    lines : sequence of (int, str)
        Lines with their numbers in the file.
    """

    def __init__(self, source: str, lines: Sequence[tuple[int, str]]):
        self.source = source
        self.words: list[tuple[str, int]] = [
            (word, number) for number, line in lines for word in line.split()
        ]
        self.next: int = 0

    def __len__(self) -> int:
        """Return the number of words not yet read."""
        return len(self.words) - self.next

    def number(self, what: str) -> Fraction:
        """Read a number that is not negative.

        Raises
        ------
        InputError
            If the next word is no such number, or there is none.
        """
        if not len(self):
            raise InputError(f"{self.source}: ends after {len(self.words)} words, expected {what}")
        word, line = self.words[self.next]
        if not _DECIMAL.fullmatch(word):
            raise self.unexpected(what)
        value = Fraction(word)
        if value < 0:
            raise InputError(f"{self.source}: line {line}: {what}: {word} is negative")
        self.next += 1
        return value

    def numbers(self, count: int, what: str) -> tuple[Fraction, ...]:
        """Read several numbers; errors say which of them is meant.

        Raises
        ------
        InputError
            If there are fewer, or one is negative.
        """
        if count > len(self):
            raise InputError(
                f"{self.source}: ends after {len(self.words)} words, "
                f"expected {count - len(self)} more for {what}"
            )
        return tuple(self.number(f"{what}, number {k} of {count}") for k in range(1, count + 1))

    def count(self, what: str) -> int:
        """Read a positive whole number.

        Raises
        ------
        InputError
            If the next word is not one.
        """
        value = self.number(what)
        if value.denominator != 1 or not 0 < value <= _LARGEST_COUNT:
            self.next -= 1
            raise self.unexpected(f"{what}, a positive whole number")
        return int(value)

    def unexpected(self, what: str) -> InputError:
        """Return the error that the next word is not what was expected."""
        word, line = self.words[self.next]
        return InputError(f"{self.source}: line {line}: {word[:40]!r}, expected {what}")

    def expect_end(self, what: str) -> None:
        """Refuse words after the end.

        Raises
        ------
        InputError
            If there are such words.
        """
        if len(self):
            raise self.unexpected(f"the end after {what}")


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with their numbers, from 1."""
    yield from enumerate(text.splitlines(), 1)
