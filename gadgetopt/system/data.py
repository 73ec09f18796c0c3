"""Base types of the data in files: instances, solutions and certificates, frozen and strict."""

from __future__ import annotations

import contextlib
import json
import math
import re
import sys
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError, PydanticKnownError

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational

PositiveInt = Annotated[int, Field(gt=0)]
NonNegativeInt = Annotated[int, Field(ge=0)]
PositiveFloat = Annotated[float, Field(gt=0)]
NonNegativeFloat = Annotated[float, Field(ge=0)]

#: Sizes, times and rates outside this range are unrealistic, and their products overflow doubles.
LEAST_SIZE, MOST_SIZE = 1e-30, 1e30


def _not_tiny(value: float) -> float:
    if 0 < value < LEAST_SIZE:
        raise PydanticKnownError("greater_than_equal", {"ge": LEAST_SIZE})
    return value


#: Physical quantities that are multiplied and divided.
PositiveSize = Annotated[float, Field(gt=0, le=MOST_SIZE), AfterValidator(_not_tiny)]
NonNegativeSize = Annotated[float, Field(ge=0, le=MOST_SIZE), AfterValidator(_not_tiny)]


#: Text form of an exact number. It excludes powers of ten: "1e999999999" would exhaust memory.
_RATIONAL = re.compile(r"-?[0-9]+(/[0-9]+)?")

#: The largest double. Integers are compared with it much faster than fractions with doubles.
_LARGEST = int(sys.float_info.max)


def _read_rational(value: Any) -> Fraction:
    number = None
    if isinstance(value, str) and _RATIONAL.fullmatch(value):
        # Python does not parse integers of thousands of digits.
        with contextlib.suppress(ValueError, ZeroDivisionError):
            number = Fraction(value)
    elif isinstance(value, int | Fraction) and not isinstance(value, bool):
        number = Fraction(value)
    elif isinstance(value, float) and math.isfinite(value):
        number = decimal_rational(value)
    if number is None:
        raise PydanticCustomError("rational", "is not a number or a fraction such as '600/7'")
    if abs(number.numerator) > _LARGEST * number.denominator:
        raise PydanticCustomError("rational_size", "is larger than any double")
    return number


def _write_rational(value: Fraction) -> int | str:
    return value.numerator if value.denominator == 1 else str(value)


#: An exact number: in files an integer, a decimal, or an integer or fraction as a string, "600/7".
Rational = Annotated[
    Fraction,
    PlainValidator(_read_rational),
    PlainSerializer(_write_rational),
    WithJsonSchema(
        {"anyOf": [{"type": "number"}, {"type": "string", "pattern": f"^{_RATIONAL.pattern}$"}]}
    ),
]


def _positive(value: Fraction) -> Fraction:
    if value <= 0:
        raise PydanticCustomError("positive", "is not a positive number")
    return value


PositiveRational = Annotated[Rational, AfterValidator(_positive)]
NonNegativeRational = Annotated[Rational, Field(ge=0)]


def _realistic(value: Fraction) -> Fraction:
    if 0 < value < decimal_rational(LEAST_SIZE):
        raise PydanticKnownError("greater_than_equal", {"ge": LEAST_SIZE})
    if value > decimal_rational(MOST_SIZE):
        raise PydanticKnownError("less_than_equal", {"le": MOST_SIZE})
    return value


#: Exact quantities that are multiplied and divided.
PositiveRationalSize = Annotated[Rational, Field(gt=0), AfterValidator(_realistic)]
NonNegativeRationalSize = Annotated[Rational, Field(ge=0), AfterValidator(_realistic)]
#: Exact probabilities.
Probability = Annotated[Rational, Field(ge=0, le=1)]
PositiveProbability = Annotated[Rational, Field(gt=0, le=1)]


class Data(BaseModel):
    """A frozen record without unknown fields, type conversion or NaN."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False
    )

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a validated copy with some fields changed, without derived tables."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**{**fields, **(update or {})})

    def overview_fields(self) -> Mapping[str, Any]:
        """Return what an overview of the record draws by name: all fields, unless it says less.

        Records whose fields are packed return lists of the numbers in them.
        """
        return {name: getattr(self, name) for name in type(self).model_fields}

    def identity(self) -> bytes:
        """Return what tells this record from others: its fields as JSON, sorted, without spaces.

        Records with several forms that mean the same return what these have in common.
        """
        plain = self.model_dump(mode="json")
        text = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return text.encode()

    def __getstate__(self) -> dict[Any, Any]:
        # Derived tables cached on the record are rebuilt after unpickling.
        state = super().__getstate__()
        fields = type(self).model_fields
        state["__dict__"] = {k: v for k, v in state["__dict__"].items() if k in fields}
        return state


def without(plain: dict[str, Any], record: Data, *names: str) -> dict[str, Any]:
    """Return a record's plain form without those fields that have their default.

    For fields that a system got later: files, and the identity of records without them, stay as
    they were.
    """
    for name in names:
        if getattr(record, name) == type(record).model_fields[name].default:
            plain.pop(name, None)
    return plain


class Instance(Data):
    """The data of one instance of a problem."""

    def within(self, tolerance: Fraction) -> Instance:
        """Return the instance whose rows may be violated by a tolerance.

        Raises
        ------
        InputError
            If its problem has no rows of its own, as all but the exact models of files.
        """
        raise InputError("has no rows that could hold within a tolerance; it is no model file")


class Solution(Data):
    """A decision for one instance, without its objective."""

    @classmethod
    def of_values(cls, values: Mapping[str, Any], instance: Any) -> Self:
        """Return the decision that values of named variables are, from a solver's solution file.

        Raises
        ------
        ValueError
            If the problem's decisions have no such form.
        """
        raise ValueError(
            "names the variables of a model; `gadgetopt decode` reads it with --formulation"
        )


class Certificate(Data):
    """A proof of a dual bound on one instance that can be checked without a solver.

    Attributes
    ----------
    may_prove_less : bool
        True if an outcome's bound may be better than what is proved; it then stays a solver's word.
    """

    may_prove_less: ClassVar[bool] = False


class LpDuals(Certificate):
    """Duals of the rows of a formulation's model, in the model's order and own sense.

    They prove a bound for the linear relaxation, hence for the model itself.
    """

    formulation: str
    row_duals: tuple[Rational, ...]


class ModelProof(Certificate):
    """A proof about the model of a formulation, as a text that a checker reads.

    It proves a bound, or that nothing is feasible; or, with a ray, that the model is unbounded.

    Attributes
    ----------
    kind : "tree", "pseudo_boolean" or "ray"
        What checks it.
    formulation : str
    model : str
        SHA-256 of the exact model that the proof was made for. It has no part in the check; it
        tells a proof for another model from a wrong one.
    proof : str
        The text, compressed (`gadgetopt.proofs.files`).
    """

    kind: Literal["tree", "pseudo_boolean", "ray"]
    formulation: str
    model: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    proof: str
