"""Presets: stages drawn uniformly, rounded to hundredths of a second."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from gadgetopt.system.declaring import generator

if TYPE_CHECKING:
    import numpy as np

    from ...instance import ResourcesInstance


@generator()
def quickstart(
    rng: np.random.Generator,
    *,
    store_cores: int = 16,
    worker_cores: int = 12,
    pcie_units: int = 8,
) -> ResourcesInstance:
    """A few cores, every stage within reach of being the slowest.

    Return a small instance of the distributions of `paper`.
    """
    return _drawn(rng, store_cores, worker_cores, pcie_units, 1)


@generator()
def paper(
    rng: np.random.Generator,
    *,
    store_cores: int = 96,
    worker_cores: int = 40,
    pcie_units: int = 12,
) -> ResourcesInstance:
    """Stages drawn uniformly, 96 and 40 cores, 12 units of PCIe.

    Return stages of the range of measured profiles (reconstructed).

    T1 and T2 from 1 to 30 core-seconds, T3 from 1 to 20, copies from 0.5 to 8 unit-seconds, a from
    1 to 10, d up to 0.3, network and GPU from 0.1 to 1 s.
    """
    return _drawn(rng, store_cores, worker_cores, pcie_units, 1)


@generator()
def copy_heavy(
    rng: np.random.Generator,
    *,
    store_cores: int = 96,
    worker_cores: int = 40,
    pcie_units: int = 12,
) -> ResourcesInstance:
    """Copies that take up to ten times as long: PCIe decides.

    Return the same with copies from 5 to 80 unit-seconds.
    """
    return _drawn(rng, store_cores, worker_cores, pcie_units, 10)


def _drawn(
    rng: np.random.Generator, store_cores: int, worker_cores: int, pcie_units: int, copies: int
) -> ResourcesInstance:
    from ...instance import ResourcesInstance

    def uniform(low: float, high: float) -> Fraction:
        return Fraction(round(100 * float(rng.uniform(low, high))), 100)

    return ResourcesInstance(
        request_core_s=uniform(1, 30),
        construct_core_s=uniform(1, 30),
        net_s=uniform(0.1, 1),
        process_core_s=uniform(1, 20),
        subgraph_unit_s=copies * uniform(0.5, 8),
        feature_unit_s=copies * uniform(0.5, 8),
        cache_core_s=uniform(1, 10),
        cache_floor_s=uniform(0, 0.3),
        gpu_s=uniform(0.1, 1),
        store_cores=store_cores,
        worker_cores=worker_cores,
        pcie_units=pcie_units,
    )
