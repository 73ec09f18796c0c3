"""Presets: stages drawn uniformly (`presets`)."""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

_SIZE = {"store_cores": 96, "worker_cores": 40, "pcie_units": 12}

GENERATORS = (
    Generator(
        name="quickstart",
        summary="a few cores, every stage within reach of being the slowest",
        generate=part("presets:quickstart"),
        parameters={"store_cores": 16, "worker_cores": 12, "pcie_units": 8},
    ),
    Generator(
        name="paper",
        summary="stages drawn uniformly, 96 and 40 cores, 12 units of PCIe",
        generate=part("presets:paper"),
        parameters=_SIZE,
    ),
    Generator(
        name="copy_heavy",
        summary="copies that take up to ten times as long: PCIe decides",
        generate=part("presets:copy_heavy"),
        parameters=_SIZE,
    ),
)
