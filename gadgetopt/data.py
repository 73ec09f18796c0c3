"""Base types of what lies in files: instances and solutions, frozen and strict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field

PositiveInt = Annotated[int, Field(gt=0)]
NonNegativeInt = Annotated[int, Field(ge=0)]
PositiveFloat = Annotated[float, Field(gt=0)]
NonNegativeFloat = Annotated[float, Field(ge=0)]


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
