"""Base types of what lies in files: instances and solutions, frozen and strict."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)

from gadgetopt.numbers import decimal_rational

PositiveInt = Annotated[int, Field(gt=0)]
NonNegativeInt = Annotated[int, Field(ge=0)]
PositiveFloat = Annotated[float, Field(gt=0)]
NonNegativeFloat = Annotated[float, Field(ge=0)]


def _read_rational(value: Any) -> Fraction:
    if isinstance(value, str):
        try:
            return Fraction(value)
        except (ValueError, ZeroDivisionError):
            raise ValueError(f"{value!r} is not a number or a fraction such as '600/7'") from None
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise ValueError(f"{value!r} is not a number or a fraction such as '600/7'")
    return decimal_rational(value)


def _write_rational(value: Fraction) -> int | str:
    return value.numerator if value.denominator == 1 else str(value)


#: An exact number: in files an integer, a decimal, or a fraction as a string, "600/7".
Rational = Annotated[
    Fraction,
    PlainValidator(_read_rational),
    PlainSerializer(_write_rational),
    WithJsonSchema(
        {"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^-?\\d+(/\\d+)?$"}]}
    ),
]


class Data(BaseModel):
    """A frozen record that takes no unknown field, converts no types and holds no NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a validated copy with some fields changed; nothing derived is carried over."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**{**fields, **(update or {})})

    def __getstate__(self) -> dict[Any, Any]:
        # Derived tables cached on the record are rebuilt where it is unpickled.
        state = super().__getstate__()
        fields = type(self).model_fields
        state["__dict__"] = {k: v for k, v in state["__dict__"].items() if k in fields}
        return state


class Instance(Data):
    """The data of one instance of a problem."""


class Solution(Data):
    """A decision for one instance. It never holds its own objective."""


class Certificate(Data):
    """What proves a dual bound on one instance to someone who trusts no solver."""
