"""Accelerators and boxes of them: the shipped table `accelerators.toml`, and one's own.

Numbers are read as the decimals they are written as.
"""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.pipeline.cluster import GpuCount
from gadgetopt.system.reading import read_text

SHIPPED = Path(__file__).with_name("accelerators.toml")

#: Bytes and operations of the units in which the table is written. By definition.
_GBYTE, _TERA = 10**9, 10**12

_Found = TypeVar("_Found")
_Amount = Annotated[float, Field(gt=0, le=1e9)]


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=True)


class Device(_Entry):
    """An accelerator.

    Attributes
    ----------
    bf16_tflop_per_s : float
        Dense, at its peak.
    memory_tbyte_per_s, memory_gbyte : float
    link_gbyte_per_s : float
        To the others of its box, in one direction.
    source : str
    """

    bf16_tflop_per_s: _Amount
    memory_tbyte_per_s: _Amount
    memory_gbyte: _Amount
    link_gbyte_per_s: _Amount
    source: str = ""

    @property
    def flop_per_s(self) -> Fraction:
        """Peak in floating-point operations a second."""
        return decimal_rational(self.bf16_tflop_per_s) * _TERA

    @property
    def memory_bytes_per_s(self) -> Fraction:
        """Bandwidth of the memory."""
        return decimal_rational(self.memory_tbyte_per_s) * _TERA

    @property
    def memory_bytes(self) -> Fraction:
        """Size of the memory."""
        return decimal_rational(self.memory_gbyte) * _GBYTE

    @property
    def link_bytes_per_s(self) -> Fraction:
        """Bandwidth inside a box."""
        return decimal_rational(self.link_gbyte_per_s) * _GBYTE


class Box(_Entry):
    """A machine of equal accelerators.

    Attributes
    ----------
    device : str
    gpus : int
    nic_gbyte_per_s : float
        Of one accelerator to other machines, in one direction.
    source : str
    """

    device: str
    gpus: GpuCount
    nic_gbyte_per_s: _Amount
    source: str = ""

    @property
    def nic_bytes_per_s(self) -> Fraction:
        """Bandwidth between boxes."""
        return decimal_rational(self.nic_gbyte_per_s) * _GBYTE


class Catalogue(_Entry):
    """Devices and boxes by their names."""

    devices: dict[str, Device] = Field(default_factory=dict)
    boxes: dict[str, Box] = Field(default_factory=dict)

    def device(self, name: str) -> Device:
        """Return a device by its name, in any case.

        Raises
        ------
        InputError
            If there is none.
        """
        return _find(self.devices, name, "device")

    def box(self, name: str) -> Box:
        """Return a box by its name, in any case.

        Raises
        ------
        InputError
            If there is none.
        """
        return _find(self.boxes, name, "cluster")


def read_catalogue(own: Path | None = None) -> Catalogue:
    """Return the shipped table, with the entries of a file of one's own over it.

    Raises
    ------
    InputError
        If the file cannot be read, or a box has a device that is not in the tables.
    """
    shipped = _read(SHIPPED)
    if own is None:
        return shipped
    added = _read(own)
    both = Catalogue(
        devices={**shipped.devices, **added.devices}, boxes={**shipped.boxes, **added.boxes}
    )
    for name, box in both.boxes.items():
        if box.device not in both.devices:
            raise InputError(
                f"{own}: boxes.{name}.device: {box.device!r}, "
                f"expected one of {', '.join(both.devices)}"
            )
    return both


def _read(path: Path) -> Catalogue:
    try:
        table = tomllib.loads(read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{path}: is not TOML: {error}") from None
    try:
        return Catalogue.model_validate(table)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        missing = first["type"] in ("missing", "extra_forbidden")
        value = "" if missing else f"{first['input']!r}: "
        raise InputError(f"{path}: {place}: {value}{first['msg']}") from None


def _find(entries: dict[str, _Found], name: str, what: str) -> _Found:
    found = entries.get(name, entries.get(name.lower()))
    if found is None:
        raise InputError(f"{what}: {name!r}, expected one of {', '.join(entries)}")
    return found
