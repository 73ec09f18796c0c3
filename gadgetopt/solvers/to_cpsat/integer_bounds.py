"""Finite bounds for the variables of an integer form, by exact reasoning over its rows."""

from __future__ import annotations

from gadgetopt.solvers.compiler import TriviallyInfeasibleError
from gadgetopt.solvers.to_cpsat.integer_form import IntegerForm, IntegerRow


def find_bounds(form: IntegerForm) -> list[int]:
    """Derive missing bounds of `form`; return the columns that remain unbounded.

    A bound follows from a row whose other variables are bounded. It also follows from dominance: a
    variable that nothing pushes up, such as a makespan that is minimised, need not exceed what the
    rows can require. Bounds of the second kind keep an optimal solution, but may cut off worse
    ones.

    Raises
    ------
    TriviallyInfeasibleError
        If a bound that follows crosses one that is there.
    """
    missing = _missing(form)
    if not missing:
        return []
    rows_of: dict[int, list[tuple[int, IntegerRow]]] = {j: [] for j in missing}
    for row in form.rows:
        for j, a in zip(row.columns, row.coefficients, strict=True):
            if j in rows_of:
                rows_of[j].append((a, row))
    progress = True
    while progress:
        progress = False
        for j in missing:
            progress |= _propagate(form, j, rows_of[j])
        if not progress:
            progress = any(_dominate(form, j, rows_of[j]) for j in missing)
        missing = [j for j in missing if form.lower[j] is None or form.upper[j] is None]
    return missing


def _missing(form: IntegerForm) -> list[int]:
    bounds = zip(form.lower, form.upper, strict=True)
    return [j for j, (low, high) in enumerate(bounds) if low is None or high is None]


def _propagate(form: IntegerForm, j: int, rows: list[tuple[int, IntegerRow]]) -> bool:
    """Set a missing bound of column `j` that follows from one row; return True if one was set."""
    found = False
    for a, row in rows:
        # a x <= upper - rest and a x >= lower - rest bound x from above or below by the sign of a.
        ends: list[tuple[int, int | None]] = []
        if row.upper is not None:
            least = _activity(form, row, j, -1)
            ends.append((1, None if least is None else row.upper - least))
        if row.lower is not None:
            most = _activity(form, row, j, 1)
            ends.append((-1, None if most is None else row.lower - most))
        for side, room in ends:
            if room is None:
                continue
            if side * a > 0 and form.upper[j] is None:
                form.upper[j] = room // a
                found = True
            elif side * a < 0 and form.lower[j] is None:
                form.lower[j] = -(room // -a)
                found = True
    low, high = form.lower[j], form.upper[j]
    if low is not None and high is not None and low > high:
        raise TriviallyInfeasibleError(f"{form.names[j]}: its rows allow no value")
    return found


def _dominate(form: IntegerForm, j: int, rows: list[tuple[int, IntegerRow]]) -> bool:
    """Set a missing bound of column `j` beyond which no value is ever useful."""
    cost = form.costs.get(j, 0)
    if form.upper[j] is None and cost >= 0:
        need = _largest_need(form, j, rows, 1)
        if need is not None:
            form.upper[j] = need
            return True
    if form.lower[j] is None and cost <= 0:
        need = _largest_need(form, j, rows, -1)
        if need is not None:
            form.lower[j] = -need
            return True
    return False


def _largest_need(
    form: IntegerForm, j: int, rows: list[tuple[int, IntegerRow]], sign: int
) -> int | None:
    """Return the largest value of `sign * x[j]` that a row or its own bound can force.

    None if it is unknown, or nothing is forced.
    """
    own = form.lower[j] if sign > 0 else form.upper[j]
    needs = [] if own is None else [sign * own]
    for coefficient, row in rows:
        a = sign * coefficient
        # Rows that push sign * x up: a x >= lower - rest for a > 0, a x <= upper - rest for a < 0.
        if a > 0 and row.lower is not None:
            least = _activity(form, row, j, -1)
            if least is None:
                return None
            needs.append(-((least - row.lower) // a))
        elif a < 0 and row.upper is not None:
            most = _activity(form, row, j, 1)
            if most is None:
                return None
            needs.append(-((row.upper - most) // -a))
    return max(needs, default=None)


def _activity(form: IntegerForm, row: IntegerRow, j: int, side: int) -> int | None:
    """Return the least (side -1) or greatest (side 1) sum of the other terms; None if infinite."""
    total = 0
    for k, a in zip(row.columns, row.coefficients, strict=True):
        if k != j:
            bound = form.upper[k] if side * a > 0 else form.lower[k]
            if bound is None:
                return None
            total += a * bound
    return total
