"""Bases of linear programs as HiGHS knows them, in numbers.

A basis says of every column and row where it is: -1 at the lower side, 0 basic, 1 at the upper.
"""

from __future__ import annotations

from collections.abc import Sequence

import highspy

_STATUS = highspy.HighsBasisStatus


def basis_of(highs: highspy.Highs) -> tuple[list[int], list[int]] | None:
    """Return where the columns and the rows are after a solve; None if HiGHS has no basis."""
    basis = highs.getBasis()
    if not basis.valid:
        return None
    upper, basic = _STATUS.kUpper, _STATUS.kBasic
    columns, rows = (
        [0 if s == basic else 1 if s == upper else -1 for s in statuses]
        for statuses in (basis.col_status, basis.row_status)
    )
    return columns, rows


def start_from(highs: highspy.Highs, columns: Sequence[int], rows: Sequence[int]) -> None:
    """Give HiGHS a basis to start from; it starts without if that is none."""
    named = {-1: _STATUS.kLower, 0: _STATUS.kBasic, 1: _STATUS.kUpper}
    basis = highspy.HighsBasis()
    basis.col_status = [named[place] for place in columns]
    basis.row_status = [named[place] for place in rows]
    basis.valid = True
    highs.setBasis(basis)
