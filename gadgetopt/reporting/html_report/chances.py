"""The tests of each two methods of a system, for a report that is asked for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gadgetopt.reporting.html_report.reading import System
from gadgetopt.reporting.pairwise import MEANINGS, TEST, as_text, pairwise_tests

#: Heads of columns of text; the others hold numbers.
TEXTS = ("method", "other")


@dataclass(frozen=True)
class Chances:
    """The tests of a report, none where it was not asked for them.

    Attributes
    ----------
    title, note : str
    heads : tuple of str
    rows : dict
        The rows of each system with two methods or more.
    """

    title: str = ""
    note: str = ""
    heads: tuple[str, ...] = ()
    rows: dict[str, tuple[tuple[str, ...], ...]] | None = None

    def of(self, system: str) -> tuple[tuple[str, ...], ...]:
        """Return the rows of a system."""
        return (self.rows or {}).get(system, ())


def chances(systems: Sequence[System], measure: str | None) -> Chances:
    """Return the tests of a measure, "objective" or "time"; None asks for none.

    Raises
    ------
    InputError
        If there is no such measure.
    """
    if measure is None:
        return Chances()
    entries = [line.entry for system in systems for line in system.lines]
    tables = as_text(pairwise_tests(entries, measure), measure)
    return Chances(
        title=f"Each two methods, by {measure}",
        note=f"{MEANINGS[measure][:1].upper()}{MEANINGS[measure][1:]} {TEST}",
        heads=tables[0].heads if tables else (),
        rows={table.system: table.rows for table in tables},
    )
