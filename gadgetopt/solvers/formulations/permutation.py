"""Rows and columns of a model in another order, as seeds of runs.

Solvers find other trees for the same model when its rows and columns change places, and their times
differ by large factors (Lodi and Tramontani, Performance variability in mixed-integer programming,
2013). Runs on several orders tell a better solver from a lucky one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.solvers.exact_form import OBJECTIVE, ExactParts, ExactRow
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.solvers.standard_form import StandardForm

T = TypeVar("T")


@dataclass(frozen=True)
class Permutation:
    """A model whose rows and columns have changed places.

    Attributes
    ----------
    given, form : StandardForm
        The model before and after.
    columns, rows : ndarray of int
        What is at place k was at `columns[k]`, `rows[k]`.
    """

    given: StandardForm
    form: StandardForm
    columns: Ints
    rows: Ints

    def undone(self, outcome: SolverOutcome) -> SolverOutcome:
        """Return the outcome of the permuted model as one of the given model."""
        columns, rows = self.columns, self.rows
        exact = outcome.exact
        return replace(
            outcome,
            values=_back(outcome.values, columns),
            row_duals=_back(outcome.row_duals, rows),
            exact_duals=_listed(outcome.exact_duals, rows),
            basis=None
            if outcome.basis is None
            else (_of(outcome.basis[0], columns), _of(outcome.basis[1], rows)),
            exact=None
            if exact is None
            else replace(exact, values=_of(exact.values, columns), duals=_of(exact.duals, rows)),
            exact_values=_listed(outcome.exact_values, columns),
            lp_duals=_back(outcome.lp_duals, rows),
            form=None if outcome.form is None else self.given,
        )


def is_of_seed_0(rng: np.random.Generator) -> bool:
    """Return True if a generator was made of the seed 0, with which a model keeps its order."""
    return getattr(rng.bit_generator.seed_seq, "entropy", None) == 0


def permuted(form: StandardForm, rng: np.random.Generator) -> Permutation:
    """Return a model with its rows and columns in an order drawn at random."""
    columns, rows = rng.permutation(len(form.columns)), rng.permutation(len(form.rows))
    return Permutation(form, _moved(form, columns, rows), columns, rows)


def _moved(form: StandardForm, columns: Ints, rows: Ints) -> StandardForm:
    matrix = form.A[rows][:, columns].tocsr()
    matrix.sort_indices()
    return replace(
        form,
        columns=[form.columns[j] for j in columns],
        col_lower=form.col_lower[columns],
        col_upper=form.col_upper[columns],
        integer=form.integer[columns],
        c=form.c[columns],
        A=matrix,
        row_lower=form.row_lower[rows],
        row_upper=form.row_upper[rows],
        rows=[form.rows[i] for i in rows],
        exact=_exact_parts(form.exact, _places(columns), _places(rows)),
    )


def _exact_parts(parts: ExactParts, column: Sequence[int], row: Sequence[int]) -> ExactParts:
    """Return exact numbers whose columns and rows have new places."""

    def moved(numbers: Mapping[int, T], places: Sequence[int]) -> dict[int, T]:
        return {k if k == OBJECTIVE else places[k]: x for k, x in numbers.items()}

    rows = {
        i: ExactRow([column[j] for j in r.columns], r.coefficients, r.lower, r.upper)
        for i, r in parts.rows.items()
    }
    return replace(
        parts,
        rows=moved(rows, row),
        costs=None if parts.costs is None else moved(parts.costs, column),
        col_lower=moved(parts.col_lower, column),
        col_upper=moved(parts.col_upper, column),
        inexact=moved(parts.inexact, row),
    )


def _places(order: Ints) -> list[int]:
    """Return where each of the given model's columns or rows went."""
    return [int(k) for k in np.argsort(order)]


def _back(values: np.ndarray | None, order: Ints) -> np.ndarray | None:
    if values is None:
        return None
    out = np.empty_like(values)
    out[order] = values
    return out


def _listed(values: Sequence[T] | None, order: Ints) -> list[T] | None:
    return None if values is None else _of(values, order)


def _of(values: Sequence[T], order: Ints) -> list[T]:
    return [values[k] for k in _places(order)]
