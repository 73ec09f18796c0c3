"""A pure integer model as a pseudo-Boolean formula: what pseudo-Boolean proofs are about.

An integer column with the bounds l <= x <= u is `l + sum(2^k * bit k)`, with as many bits as u - l
needs and the constraint `sum(2^k * bit k) <= u - l` where they could count further. Each side of a
row is one constraint. Its coefficients are capped at the degree and divided by their greatest
common divisor, the degree rounded up; that has the same solutions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from gadgetopt.errors import ModelRefused
from gadgetopt.proofs.model import Model
from gadgetopt.proofs.pseudo_boolean.kernel import Constraint, Proof, normal


class Formula(NamedTuple):
    """Minimise `offset + sum(objective)` over 0-1 variables.

    Attributes
    ----------
    variables : int
        The variables are 1, ..., `variables`.
    constraints : list of Constraint
        Distinct.
    objective : list of (coefficient, variable)
    offset : int
    columns : list of (int, list of int)
        By column of the model: its lower bound, and the variables of its bits, least first.
    outside : int or None
        What a solution of the model that the formula does not have costs at least, in the model's
        units; None if the formula has all of them.
    """

    variables: int
    constraints: list[Constraint]
    objective: list[tuple[int, int]]
    offset: int
    columns: list[tuple[int, list[int]]]
    outside: int | None

    def bound(self, proved: int | None) -> int | None:
        """Return the bound on the model's costs that follows from one on the objective.

        None, for a formula or model without solutions, passes through.
        """
        inside = None if proved is None else self.offset + proved
        known = [x for x in (inside, self.outside) if x is not None]
        return min(known, default=None)

    def costs(self, true: Iterable[int]) -> int:
        """Return the model's costs where these variables are 1 and the others 0."""
        ones = set(true)
        return self.offset + sum(a for a, variable in self.objective if variable in ones)


def encode(model: Model, cutoff: int | None = None) -> Formula:
    """Return the formula of a model.

    Parameters
    ----------
    model : Model
    cutoff : int, optional
        Costs of interest: where a column has no bound on the side that costs more, it gets the one
        beyond which the model's costs exceed this number.

    Raises
    ------
    ModelRefused
        If a column is continuous, or has no bound on a side and gets none.
    """
    if not all(model.integer):
        raise ModelRefused("a pseudo-Boolean proof: a column is continuous")
    boxes, restricted = _boxes(model, cutoff)
    constraints: dict[tuple[frozenset[tuple[int, int]], int], Constraint] = {}

    def put(terms: Iterable[tuple[int, int]], degree: int) -> None:
        literals, least = canonical(normal(terms, degree))
        if least > 0:
            constraints.setdefault((frozenset(literals.items()), least), (literals, least))

    columns: list[tuple[int, list[int]]] = []
    last = 0
    for low, high in boxes:
        count = max(high - low, 0).bit_length()
        bits = list(range(last + 1, last + 1 + count))
        last += count
        columns.append((low, bits))
        if high - low != (1 << count) - 1:
            put(((-(1 << k), bit) for k, bit in enumerate(bits)), low - high)
    for indices, coefficients, lower, upper, _ in model.rows:
        terms, constant = _linear(columns, indices, coefficients)
        if lower is not None:
            put(terms, lower - constant)
        if upper is not None:
            put(((-a, bit) for a, bit in terms), constant - upper)
    objective, offset = _linear(columns, *model.costs)
    outside = cutoff + 1 if restricted and cutoff is not None else None
    return Formula(last, list(constraints.values()), objective, offset, columns, outside)


def proof_lines(cutoff: int | None, steps: Iterable[str]) -> list[str]:
    """Return the lines of a proof: the cutoff of its formula, then the steps."""
    return [f"cutoff {'-' if cutoff is None else cutoff}", *steps]


def proved(model: Model, lines: Iterable[str]) -> int | None:
    """Return a bound below which a model's costs have no value; None if nothing is feasible.

    The formula is made here, from the model. A proof names only the cutoff, and what a formula
    leaves out because of it is in the bound.

    Raises
    ------
    ValueError
        If the lines are no proof, or the model has no formula.
    """
    source = iter(lines)
    word, *rest = next(source, "").split() or [""]
    if word != "cutoff" or len(rest) != 1:
        raise ValueError("begins with no cutoff")
    (cutoff,) = rest
    try:
        formula = encode(model, None if cutoff == "-" else int(cutoff))
    except ModelRefused as error:
        raise ValueError(str(error)) from None
    proof = Proof(formula.variables, formula.constraints, formula.objective)
    return formula.bound(proof.check(source))


def canonical(constraint: Constraint) -> Constraint:
    """Return a constraint with the same solutions and small coefficients."""
    terms, degree = constraint
    if degree <= 0:
        return {}, 0
    capped = {x: min(a, degree) for x, a in terms.items()}
    divisor = math.gcd(*capped.values()) or 1
    return {x: a // divisor for x, a in capped.items()}, -(-degree // divisor)


def _linear(
    columns: Sequence[tuple[int, list[int]]], indices: Sequence[int], coefficients: Sequence[int]
) -> tuple[list[tuple[int, int]], int]:
    """Return `sum(coefficients * x[indices])` as terms of bits and a constant."""
    terms: list[tuple[int, int]] = []
    constant = 0
    for j, a in zip(indices, coefficients, strict=True):
        low, bits = columns[j]
        constant += a * low
        terms += [(a << k, bit) for k, bit in enumerate(bits)]
    return terms, constant


def _boxes(model: Model, cutoff: int | None) -> tuple[list[tuple[int, int]], bool]:
    """Return finite bounds of the columns, and whether the cutoff gave one of them."""
    costs = dict(zip(*model.costs, strict=True))
    lower, upper = list(model.lower), list(model.upper)
    cheapest = {j: lower[j] if a > 0 else upper[j] for j, a in costs.items()}
    spare: int | Fraction | None = cutoff
    for j, end in cheapest.items():
        spare = None if spare is None or end is None else spare - costs[j] * end
    restricted = False
    for j, end in cheapest.items():
        if spare is None or end is None or None not in (lower[j], upper[j]):
            continue
        reach = max(math.floor(spare / Fraction(abs(costs[j]))), 0)
        if costs[j] > 0:
            upper[j] = end + reach
        else:
            lower[j] = end - reach
        restricted = True
    boxes: list[tuple[int, int]] = []
    for j, (low, high) in enumerate(zip(lower, upper, strict=True)):
        if low is None or high is None:
            raise ModelRefused(f"a pseudo-Boolean proof: column {j} has no bound on a side")
        boxes.append((int(low), int(high)))
    return boxes, restricted
