"""Instances and solutions: work of the pipeline's stages, and shares of cores and PCIe."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

from pydantic import Field

from gadgetopt.system.data import (
    Instance,
    NonNegativeRationalSize,
    PositiveInt,
    Solution,
)

Count = Annotated[int, Field(gt=0, le=10**9)]


class ResourcesInstance(Instance):
    r"""Stages of the data path of one mini-batch.

    Attributes
    ----------
    request_core_s, construct_core_s : Fraction
        :math:`T_1, T_2`: sampling requests and subgraph construction on the graph store.
    net_s : Fraction
        :math:`T_{net}`.
    process_core_s : Fraction
        :math:`T_3`: subgraph processing on the worker machine.
    subgraph_unit_s, feature_unit_s : Fraction
        :math:`D_I, D_{II}`: copying subgraph and features over one unit of PCIe bandwidth.
    cache_core_s, cache_floor_s : Fraction
        a and d of the cache workflow, :math:`f(c) = a / c + d`.
    gpu_s : Fraction
        :math:`T_{gpu}`.
    store_cores, worker_cores, pcie_units : int
        :math:`C_{gs}, C_{wm}, B_{pcie}`.
    """

    request_core_s: NonNegativeRationalSize
    construct_core_s: NonNegativeRationalSize
    net_s: NonNegativeRationalSize
    process_core_s: NonNegativeRationalSize
    subgraph_unit_s: NonNegativeRationalSize
    feature_unit_s: NonNegativeRationalSize
    cache_core_s: NonNegativeRationalSize
    cache_floor_s: NonNegativeRationalSize
    gpu_s: NonNegativeRationalSize
    store_cores: Count
    worker_cores: Count
    pcie_units: Count

    @property
    def fixed_s(self) -> Fraction:
        """Time of the stages that no share shortens."""
        return max(self.net_s, self.gpu_s)

    @property
    def has_shares(self) -> bool:
        """True if every stage can have a core or a unit of its own."""
        return min(self.store_cores, self.worker_cores, self.pcie_units) >= 2

    def cache_s(self, cores: int, units: int) -> Fraction:
        """Return the time of the cache workflow and of copying features."""
        return self.cache_core_s / cores + self.cache_floor_s + self.feature_unit_s / units


class ResourcesSolution(Solution):
    """Cores of the four stages on processors, and units of PCIe of the two that copy."""

    request_cores: PositiveInt
    construct_cores: PositiveInt
    process_cores: PositiveInt
    cache_cores: PositiveInt
    subgraph_units: PositiveInt
    feature_units: PositiveInt


def size(instance: ResourcesInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    return {
        "store_cores": instance.store_cores,
        "worker_cores": instance.worker_cores,
        "pcie_units": instance.pcie_units,
    }
