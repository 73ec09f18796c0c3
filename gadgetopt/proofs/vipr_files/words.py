"""The words of a VIPR file, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

#: Largest power of ten in a number: a few characters may stand for millions of digits.
#: By definition.
LARGEST_POWER = 4300


class Words:
    """The words of lines, and the number of the line that is read.

    A word that begins with % begins a comment.
    """

    def __init__(self, lines: Iterable[str]):
        self.at = 0
        self._words = self._split(lines)
        self._again: list[str] = []

    def _split(self, lines: Iterable[str]) -> Iterator[str]:
        for self.at, line in enumerate(lines, 1):
            for word in line.split():
                if word.startswith("%"):
                    break
                yield word

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        return self._again.pop() if self._again else next(self._words)

    def put_back(self, word: str) -> None:
        """Let a word be the next one again."""
        self._again.append(word)

    def skip(self, keyword: str) -> None:
        """Read a word that has to be there."""
        word = next(self)
        if word != keyword:
            raise ValueError(f"{word[:20]!r} where VIPR has {keyword}")

    def after(self, keyword: str) -> int:
        """Read a word that has to be there, and the count after it."""
        self.skip(keyword)
        return self.index()

    def index(self) -> int:
        """Read an index or a count."""
        number = int(next(self))
        if number < 0:
            raise ValueError(f"{number} in place of an index or a count")
        return number

    def number(self) -> Fraction:
        """Read a number."""
        return number_of_word(next(self))


def number_of_word(word: str) -> Fraction:
    """Return the number that a word stands for.

    Raises
    ------
    ValueError
        If it is none, or has too many digits.
    """
    _, _, power = word.lower().partition("e")
    if power and abs(int(power)) > LARGEST_POWER:
        raise ValueError(f"a number of too many digits: {word[:20]!r}")
    return Fraction(word)
