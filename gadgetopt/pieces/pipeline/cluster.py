"""Clusters of GPUs: with any matrix of bandwidths, or in machines of two levels of bandwidth."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gadgetopt.numbers.exact import rationals
from gadgetopt.numbers.standards import ETHERNET_BYTES_PER_S, PCI_EXPRESS_BYTES_PER_S
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.system.data import Data, NonNegativeSize, PositiveSize

#: GPUs of a machine, far beyond any real case: they are listed one by one. By definition.
MOST_GPUS_OF_A_MACHINE = 1024

GpuCount = Annotated[int, Field(gt=0, le=MOST_GPUS_OF_A_MACHINE)]


class MatrixCluster(Data):
    """GPUs with a bandwidth for each pair.

    Attributes
    ----------
    bandwidth_bytes_per_s : tuple of tuple of float
        Symmetric; the diagonal is 0 and means nothing. Shape (GPUs, GPUs).
    speeds : tuple of float, optional
        Speed of each GPU relative to the profiled one; all 1 by default.
    """

    type: Literal["matrix"] = "matrix"
    bandwidth_bytes_per_s: tuple[tuple[NonNegativeSize, ...], ...] = Field(min_length=1)
    speeds: tuple[PositiveSize, ...] | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        b = self.bandwidth_bytes_per_s
        for u, row in enumerate(b):
            if len(row) != len(b):
                raise ValueError(
                    f"bandwidth_bytes_per_s[{u}]: {len(row)} entries for {len(b)} GPUs"
                )
            for v, value in enumerate(row[:u]):
                if value == 0:
                    raise ValueError(
                        f"bandwidth_bytes_per_s[{u}][{v}]: 0 between different GPUs; "
                        "give a tiny positive bandwidth"
                    )
                if value != b[v][u]:
                    raise ValueError(
                        f"bandwidth_bytes_per_s[{u}][{v}]: {value} differs from {b[v][u]} of the "
                        "opposite direction"
                    )
            if row[u] != 0:
                raise ValueError(f"bandwidth_bytes_per_s[{u}][{u}]: {row[u]} is not 0")
        _check_speeds(self.speeds, self.num_gpus, "GPUs")
        return self

    @property
    def num_gpus(self) -> int:
        """Number of GPUs."""
        return len(self.bandwidth_bytes_per_s)

    @cached_property
    def bandwidths(self) -> list[list[Fraction]]:
        """Bandwidths as the exact decimals they are written as. Shape (GPUs, GPUs)."""
        return [rationals(row) for row in self.bandwidth_bytes_per_s]

    @cached_property
    def gpu_speeds(self) -> list[Fraction]:
        """Exact speed of each GPU."""
        return [Fraction(1)] * self.num_gpus if self.speeds is None else rationals(self.speeds)

    def bandwidth(self, u: int, v: int) -> Fraction:
        """Return the bandwidth in B/s between two different GPUs."""
        return self.bandwidths[u][v]


class TwoLevelCluster(Data):
    """Machines of identical GPUs, numbered machine by machine.

    Attributes
    ----------
    gpus_per_machine : tuple of int
        GPUs of each machine.
    intra_bytes_per_s, inter_bytes_per_s : float
        Bandwidth of a pair of GPUs in one machine, and in two.
    allreduce_intra_bytes_per_s, allreduce_inter_bytes_per_s : float, optional
        Bandwidth of AllReduce inside a machine, and across machines; by default that of pairs.
    multi_inter_bytes_per_s : float, optional
        Bandwidth towards a stage that spans machines in the model `planner_code`; by default
        `inter_bytes_per_s`.
    speeds : tuple of float, optional
        Speed of each machine's GPUs relative to the profiled one; all 1 by default.
    """

    type: Literal["two_level"] = "two_level"
    gpus_per_machine: tuple[GpuCount, ...] = Field(min_length=1)
    intra_bytes_per_s: Annotated[PositiveSize, PCI_EXPRESS_BYTES_PER_S]
    inter_bytes_per_s: Annotated[PositiveSize, ETHERNET_BYTES_PER_S]
    allreduce_intra_bytes_per_s: PositiveSize | None = None
    allreduce_inter_bytes_per_s: PositiveSize | None = None
    multi_inter_bytes_per_s: PositiveSize | None = None
    speeds: tuple[PositiveSize, ...] | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        _check_speeds(self.speeds, len(self.gpus_per_machine), "machines")
        return self

    @property
    def num_gpus(self) -> int:
        """Number of GPUs."""
        return sum(self.gpus_per_machine)

    @cached_property
    def machine_of(self) -> tuple[int, ...]:
        """Machine of each GPU."""
        return tuple(k for k, size in enumerate(self.gpus_per_machine) for _ in range(size))

    @cached_property
    def machine_gpus(self) -> tuple[range, ...]:
        """GPUs of each machine."""
        ends = [sum(self.gpus_per_machine[: k + 1]) for k in range(len(self.gpus_per_machine))]
        sizes = self.gpus_per_machine
        return tuple(range(end - size, end) for end, size in zip(ends, sizes, strict=True))

    @cached_property
    def machine_speeds(self) -> list[Fraction]:
        """Exact speed of each machine's GPUs."""
        if self.speeds is None:
            return [Fraction(1)] * len(self.gpus_per_machine)
        return rationals(self.speeds)

    @cached_property
    def gpu_speeds(self) -> list[Fraction]:
        """Exact speed of each GPU."""
        return [self.machine_speeds[k] for k in self.machine_of]

    @cached_property
    def exact(self) -> TwoLevelBandwidths:
        """Exact bandwidths, defaults filled in."""
        return TwoLevelBandwidths(self)

    def bandwidth(self, u: int, v: int) -> Fraction:
        """Return the bandwidth in B/s between two different GPUs."""
        same = self.machine_of[u] == self.machine_of[v]
        return self.exact.intra if same else self.exact.inter


class TwoLevelBandwidths:
    """Bandwidths of a two-level cluster as exact numbers, in B/s."""

    def __init__(self, cluster: TwoLevelCluster):
        def read(value: float | None, default: Fraction) -> Fraction:
            return default if value is None else decimal_rational(value)

        self.intra: Fraction = decimal_rational(cluster.intra_bytes_per_s)
        self.inter: Fraction = decimal_rational(cluster.inter_bytes_per_s)
        self.allreduce_intra: Fraction = read(cluster.allreduce_intra_bytes_per_s, self.intra)
        self.allreduce_inter: Fraction = read(cluster.allreduce_inter_bytes_per_s, self.inter)
        self.multi_inter: Fraction = read(cluster.multi_inter_bytes_per_s, self.inter)


Cluster = Annotated[MatrixCluster | TwoLevelCluster, Field(discriminator="type")]


def _check_speeds(speeds: tuple[float, ...] | None, wanted: int, of_what: str) -> None:
    if speeds is not None and len(speeds) != wanted:
        raise ValueError(f"speeds: {len(speeds)} entries for {wanted} {of_what}")
