"""Bounds on linear models, proved in exact arithmetic from the duals of their rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.tolerance import simplest_rational
from gadgetopt.solvers.exact_form import ExactReader
from gadgetopt.system.data import Data

if TYPE_CHECKING:
    from gadgetopt.numbers.arrays import Floats
    from gadgetopt.solvers.standard_form import StandardForm
    from gadgetopt.system.declaration import Formulation

#: Duals are also tried as fractions with at most this denominator: an optimal vertex of a model
#: with small integers has such duals, and hitting them exactly closes the last 1e-9 of the bound.
#: Tuned: `benchmarks/constants.py`.
LARGEST_DENOMINATOR = 10_000


def rounded_in_model(formulation: Formulation, instance: Any) -> str | None:
    """Say which exact number of an instance a formulation's model does not hold, if any."""
    return None if formulation.form is not None else rounded_number(instance)


def rounded_number(instance: Any) -> str | None:
    """Say which exact number of an instance a model of doubles cannot hold; None if all are held.

    The duals of such a model would prove a bound for other numbers than the instance has.
    """
    known: dict[int | Fraction, bool] = {}
    for where, x in _numbers(instance, ""):
        if x not in known:
            known[x] = _survives_doubles(x)
        if not known[x]:
            return f"{where}: {x} is changed by rounding to a double, which the model holds"
    return None


def _survives_doubles(x: int | Fraction) -> bool:
    try:
        return simplest_rational(float(x)) == x
    except OverflowError:
        return False


def _numbers(data: Any, where: str) -> Iterator[tuple[str, int | Fraction]]:
    """Yield all integers and rationals in a record, and where they are."""
    if isinstance(data, int | Fraction):
        yield where.removeprefix("."), data
    parts: Iterable[tuple[str, Any]] = ()
    if isinstance(data, Data):
        parts = ((f".{name}", getattr(data, name)) for name in type(data).model_fields)
    elif isinstance(data, Mapping):
        parts = ((f"[{key!r}]", value) for key, value in data.items())
    elif isinstance(data, tuple | list):
        parts = ((f"[{k}]", value) for k, value in enumerate(data))
    for place, part in parts:
        yield from _numbers(part, where + place)


def rational_duals(form: StandardForm, row_duals: Floats) -> tuple[Fraction, list[Fraction]] | None:
    r"""Return a bound on the optimum of a linear model, and the exact row duals y that prove it.

    For a minimisation and any y with :math:`y_i \ge 0` on rows with a lower bound only and
    :math:`y_i \le 0` on rows with an upper bound only,

    .. math::
        c^T x \ge \sum_i y_i b_i + \sum_j \min_{l_j \le x_j \le u_j} (c - A^T y)_j \, x_j,

    where :math:`b_i` is the row's lower bound if :math:`y_i > 0` and its upper bound otherwise.
    Duals of the wrong sign are set to zero, and the right side is computed in rational arithmetic.
    The bound holds for the mixed-integer model too. It is as good as the duals are.

    Parameters
    ----------
    form : StandardForm
    row_duals : ndarray of float, shape (rows,)
        Approximate duals in the model's own sense, as in `SolverOutcome.row_duals`.

    Returns
    -------
    (Fraction, list of Fraction) or None
        A lower bound when minimising, an upper bound when maximising; None if a reduced cost has
        the wrong sign on a variable without a bound on that side.

    Raises
    ------
    ValueError
        If the number of duals is not that of the rows.
    """
    if len(row_duals) != len(form.rows):
        raise ValueError(f"row_duals: {len(row_duals)} duals for {len(form.rows)} rows")
    sign = -1 if form.sense == "max" else 1
    duals = [y if math.isfinite(y) else 0.0 for y in row_duals.tolist()]
    candidates = (
        [Fraction(y) for y in duals],
        [Fraction(y).limit_denominator(LARGEST_DENOMINATOR) for y in duals],
    )
    try:
        proved = [(b, y) for y in candidates if (b := exact_dual_bound(form, y)) is not None]
    except ModelRefused:
        return None  # a number of the model is not known exactly
    if not proved:
        return None
    return max(proved, key=lambda by: sign * by[0])


def exact_dual_bound(form: StandardForm, row_duals: Sequence[Fraction]) -> Fraction | None:
    """Return the bound that exact row duals prove on the optimum of a linear model.

    Raises
    ------
    ModelRefused
        If a number of the model is known only as a double that may have been rounded.
    ValueError
        If the number of duals is not that of the rows.
    """
    if len(row_duals) != len(form.rows):
        raise ValueError(f"row_duals: {len(row_duals)} duals for {len(form.rows)} rows")
    sign = -1 if form.sense == "max" else 1
    reader = ExactReader(form)
    bound = _lower_bound(reader, [sign * y for y in row_duals], sign)
    return None if bound is None else reader.offset() + sign * bound


def _lower_bound(reader: ExactReader, duals: Sequence[Fraction], sign: int) -> Fraction | None:
    """Return the bound that `duals` prove on the minimum of `sign * c @ x`."""
    reduced = [Fraction(0)] * len(reader.form.columns)
    for j, a in reader.costs().items():
        reduced[j] = Fraction(sign * a)
    total = Fraction(0)
    for i, y in enumerate(duals):
        if y == 0:
            continue
        row = reader.row(i)
        side = row.lower if y > 0 else row.upper
        if isinstance(side, float):
            continue  # none, or a double that may have been rounded: the dual counts as zero
        total += y * side
        for j, a in zip(row.columns, row.coefficients, strict=True):
            reduced[j] -= y * a
    for j, cost in enumerate(reduced):
        if cost == 0:
            continue
        lower, upper = reader.bounds(j)
        bound = lower if cost > 0 else upper
        if bound is None:
            return None
        total += cost * bound
    return total
