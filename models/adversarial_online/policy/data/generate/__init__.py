"""Presets: grids of values, and predictions (`presets`)."""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

GENERATORS = (
    Generator(
        name="quickstart",
        summary="two units, a geometric grid of three values",
        generate=part("presets:quickstart"),
        parameters={"units": 2, "levels": 3, "horizon": 5, "spread": 4},
    ),
    Generator(
        name="paper",
        summary="geometric grids as the notes study them (reconstructed settings)",
        generate=part("presets:paper"),
        parameters={"units": 5, "levels": 7, "horizon": 25, "spread": 10},
    ),
    Generator(
        name="random_grid",
        summary="whole values drawn from 1 to 20, as ratio or as regret",
        generate=part("presets:random_grid"),
        parameters={"units": 2, "levels": 3, "horizon": 4, "payoff": "ratio"},
    ),
    Generator(
        name="predicted",
        summary="a predicted sequence on which a share of OPT is to be kept",
        generate=part("presets:predicted"),
        parameters={"units": 1, "levels": 3, "horizon": 4, "spread": 4, "consistency_percent": 80},
    ),
)
