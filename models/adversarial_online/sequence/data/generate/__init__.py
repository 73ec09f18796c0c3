"""Presets: prices of the theory and random ones (`presets`)."""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

GENERATORS = (
    Generator(
        name="quickstart",
        summary="random non-decreasing prices of three units, five values",
        generate=part("presets:quickstart"),
        parameters={"units": 3, "levels": 5, "horizon": 8},
    ),
    Generator(
        name="paper",
        summary="the exponential price, geometric values (reconstructed settings)",
        generate=part("presets:paper"),
        parameters={"units": 8, "levels": 9, "horizon": 20, "spread": 4},
    ),
    Generator(
        name="random_table",
        summary="prices drawn from the values, in any order or non-decreasing",
        generate=part("presets:random_table"),
        parameters={"units": 4, "levels": 6, "horizon": 10, "monotone": False},
    ),
    Generator(
        name="one_seed",
        summary="the exponential price with one random seed: a lottery over tables",
        generate=part("presets:one_seed"),
        parameters={"units": 3, "levels": 6, "horizon": 12, "spread": 4},
    ),
    Generator(
        name="resources",
        summary="several resources with rising prices, bundles of random demands",
        generate=part("presets:resources"),
        parameters={"resources": 2, "units": 2, "types": 4, "horizon": 5},
    ),
)
