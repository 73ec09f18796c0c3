"""Factors of steps of VIPR files that have none, found by a linear program and made exact.

What is found is not believed: the reader adds the constraints up with these factors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.vipr_files.constraints import Line, Terms

#: Seconds for a step. Tuned: `benchmarks/constants.py`.
LIMIT_S = 10.0


def factors(claimed: Line, known: Mapping[int, Line]) -> list[tuple[int, Fraction]] | None:
    """Return constraints with factors whose sum gives a line, or contradicts itself.

    None if none are found.
    """
    if claimed.sense == 0:
        return None
    found = None
    if claimed.terms:
        found = _combination(claimed.sense, claimed.side, claimed.terms, known)
    if found is None:
        found = _combination(1, Fraction(1), {}, known)
    return found


def _combination(
    sense: int, side: Fraction, terms: Terms, known: Mapping[int, Line]
) -> list[tuple[int, Fraction]] | None:
    """Return factors with which constraints add up to `terms`, and to the side or beyond."""
    entries: dict[int, dict[int, Fraction]] = {j: {} for j in terms}
    for k, line in enumerate(known.values()):
        for j, a in line.terms.items():
            entries.setdefault(j, {})[k] = a
    rows = [_row(numbers, terms.get(j, Fraction(0)), equal=True) for j, numbers in entries.items()]
    sides = {k: sense * line.side for k, line in enumerate(known.values()) if line.side}
    rows.append(_row(sides, sense * side, equal=False))
    signs = [sense * line.sense for line in known.values()]
    model = Model(
        integer=[False] * len(signs),
        lower=[0 if sign > 0 else None for sign in signs],
        upper=[0 if sign < 0 else None for sign in signs],
        rows=rows,
        costs=([k for k, sign in enumerate(signs) if sign], [sign for sign in signs if sign]),
        scale=1,
        offset=0,
        sense="min",
    )
    values = _optimal_values(model)
    if values is None:
        return None
    return [(number, x) for number, x in zip(known, values, strict=True) if x]


def _row(numbers: Mapping[int, Fraction], side: Fraction, *, equal: bool) -> Row:
    """Return the row of numbers that equals a side, or is at least it."""
    unit = math.lcm(side.denominator, *(x.denominator for x in numbers.values()))
    scaled = [int(x * unit) for x in numbers.values()]
    least = int(side * unit)
    return Row(list(numbers), scaled, least, least if equal else None, unit)


def _optimal_values(model: Model) -> list[Fraction] | None:
    from gadgetopt.errors import ModelRefused
    from gadgetopt.proofs.named_form import form_of
    from gadgetopt.search.clock import Clock
    from gadgetopt.solvers import highs
    from gadgetopt.solvers.exact_optimum.refinement import exact_optimum
    from gadgetopt.system.result import Limits, Status

    form = form_of(
        model,
        [f"x{j}" for j in range(len(model.integer))],
        [f"r{i}" for i in range(len(model.rows))],
    )
    clock = Clock(Limits(LIMIT_S, 1, None))
    try:
        solved = highs.solve_form(form, clock.limits())
    except ModelRefused:
        return None
    if solved.status is not Status.OPTIMAL or solved.basis is None:
        return None
    optimum = exact_optimum(form, solved.basis, clock)
    return None if optimum is None else optimum.values
