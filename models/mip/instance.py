"""Instances and solutions: an exact linear model with names, and values of its columns."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from pydantic import model_validator

from gadgetopt.numbers.arrays import Ints
from gadgetopt.proofs.files import packed, unpacked
from gadgetopt.proofs.model import Model, lines, parsed
from gadgetopt.proofs.reading.decimals import exact
from gadgetopt.proofs.reading.draft import NamedModel
from gadgetopt.proofs.within import within
from gadgetopt.system.data import Instance, Rational, Solution
from gadgetopt.system.declaration import Sense

if TYPE_CHECKING:
    from gadgetopt.numbers.tolerance import Number


class MipInstance(Instance):
    """A mixed-integer linear program.

    Attributes
    ----------
    model : str
        The exact model as text (`gadgetopt.proofs.model`), compressed, in base64.
    columns, rows : tuple of str
        Distinct names in the model's order.
    """

    model: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]

    @model_validator(mode="after")
    def _check(self) -> Self:
        try:
            model = self.exact
        except ValueError as error:
            raise ValueError(f"model: {str(error).removeprefix('proof: ')}") from None
        counts = {"columns": len(model.integer), "rows": len(model.rows)}
        for what, count in counts.items():
            names: tuple[str, ...] = getattr(self, what)
            if len(names) != count:
                raise ValueError(f"{what}: {len(names)} names, but the model has {count} {what}")
            if len(set(names)) < count:
                raise ValueError(f"{what}: a name occurs twice")
            if not all(name and "\n" not in name for name in names):
                raise ValueError(f"{what}: a name is empty, or holds the end of a line")
        return self

    @classmethod
    def of(cls, named: NamedModel) -> MipInstance:
        """Return the instance that a model with names is."""
        text = packed(lines(named.model))
        instance = cls.model_construct(
            model=text, columns=tuple(named.columns), rows=tuple(named.rows)
        )
        instance.__dict__["exact"] = named.model
        return instance

    @cached_property
    def exact(self) -> Model:
        """The exact model."""
        return parsed(unpacked(self.model))

    @cached_property
    def index(self) -> dict[str, int]:
        """The number of each column by its name."""
        return {name: j for j, name in enumerate(self.columns)}

    @property
    def named(self) -> NamedModel:
        """The exact model with its names."""
        return NamedModel(self.exact, list(self.columns), list(self.rows), [])

    def within(self, tolerance: Fraction) -> MipInstance:
        """Return the instance whose rows and bounds of continuous columns may be off by so much."""
        relaxed = within(self.exact, tolerance)
        return self.of(NamedModel(relaxed, list(self.columns), list(self.rows), []))

    def overview_fields(self) -> Mapping[str, Any]:
        """Return the costs of the columns that have some, and the entries of columns and rows."""
        model = self.exact
        in_column = np.zeros(len(self.columns), dtype=np.int64)
        for row in model.rows:
            in_column[row.columns] += 1
        return {
            "costs": tuple(Fraction(c, model.scale) for c in model.costs[1]),
            "entries of a column": tuple(in_column.tolist()),
            "entries of a row": tuple(len(row.columns) for row in model.rows),
        }

    def identity(self) -> bytes:
        """Return a digest of the model that orders columns and rows by their names.

        Files that list a model's columns or rows in another order, or are of another format, mean
        the same instance.
        """
        model = self.exact
        columns = sorted(range(len(self.columns)), key=self.columns.__getitem__)
        rows = sorted(range(len(self.rows)), key=self.rows.__getitem__)
        place = np.empty(len(columns), dtype=np.int64)
        place[columns] = np.arange(len(columns))
        forms = [model.rows[i] for i in rows]
        digest = hashlib.sha256(f"{model.sense} {Fraction(model.offset)} {model.scale}".encode())
        for part in (
            [self.columns[j] for j in columns],
            [f"{model.integer[j]:d} {model.lower[j]} {model.upper[j]}" for j in columns],
            [self.rows[i] for i in rows],
            [f"{row.lower} {row.upper} {row.denominator}" for row in forms],
        ):
            digest.update("\n".join(part).encode() + b"\0")
        entries = [(row.columns, row.coefficients) for row in forms]
        for text in (*_terms([model.costs], place), *_terms(entries, place)):
            digest.update(text + b"\0")
        return digest.hexdigest().encode()


def _terms(forms: Sequence[tuple[list[int], list[int]]], place: Ints) -> list[bytes]:
    """Return linear forms as bytes, their terms in the order of their columns' places."""
    lengths = np.fromiter((len(columns) for columns, _ in forms), np.int64, len(forms))
    total = int(lengths.sum())
    columns = place[np.fromiter(chain.from_iterable(c for c, _ in forms), np.int64, total)]
    order = np.lexsort((columns, np.repeat(np.arange(len(forms)), lengths)))
    numbers = list(chain.from_iterable(a for _, a in forms))
    sorted_numbers = " ".join(map(str, map(numbers.__getitem__, order.tolist())))
    places: Any = columns[order].astype("<i8")
    return [lengths.astype("<i8").tobytes(), places.tobytes(), sorted_numbers.encode()]


class MipSolution(Solution):
    """The values of the columns by name; those that are left out are 0.

    Attributes
    ----------
    values : mapping of str to Fraction
    """

    values: Mapping[str, Rational]

    @classmethod
    def of_values(cls, values: Mapping[str, Any], instance: MipInstance) -> Self:
        """Return the solution that a solver's file states, whose numbers are texts.

        Raises
        ------
        ValueError
            If a name is none of a column.
        """
        unknown = [name for name in values if name not in instance.index]
        if unknown:
            more = f" and {len(unknown) - 1} others" if len(unknown) > 1 else ""
            raise ValueError(f"{unknown[0]}{more}: no column of the model")
        read = {name: Fraction(exact(text)) for name, text in values.items()}
        return cls(values={name: x for name, x in read.items() if x})


def solution_of(values: Sequence[Number], instance: MipInstance) -> MipSolution:
    """Return the solution that values in the order of the columns are."""
    pairs = zip(instance.columns, values, strict=True)
    return MipSolution(values={name: Fraction(x) for name, x in pairs if x})


def sense_of(instance: MipInstance) -> Sense:
    """Return "min" or "max", as the model says."""
    return "min" if instance.exact.sense == "min" else "max"


def size(instance: MipInstance) -> dict[str, int]:
    """Return the counts that say how large an instance is."""
    model = instance.exact
    return {
        "rows": len(model.rows),
        "columns": len(model.integer),
        "integer": sum(model.integer),
        "entries": sum(len(row.columns) for row in model.rows),
    }
