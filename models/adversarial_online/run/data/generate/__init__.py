"""Presets: random streams, streams that hurt, bundles of several resources (`presets`)."""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

GENERATORS = (
    Generator(
        name="quickstart",
        summary="a few buyers whose values drift upward",
        generate=part("presets:quickstart"),
        parameters={"requests": 24, "units": 6, "spread": 10.0},
    ),
    Generator(
        name="paper",
        summary="independent values on a geometric grid; the paper's settings are not known",
        generate=part("presets:paper"),
        parameters={"requests": 500, "units": 100, "spread": 10.0, "levels": 9},
    ),
    Generator(
        name="iid",
        summary="independent values: uniform, lognormal or Pareto, clipped",
        generate=part("presets:iid"),
        parameters={"requests": 500, "units": 100, "spread": 10.0, "law": "uniform"},
    ),
    Generator(
        name="upward_drift",
        summary="values that grow over the stream, with noise",
        generate=part("presets:upward_drift"),
        parameters={"requests": 500, "units": 100, "spread": 10.0, "noise": 0.2},
    ),
    Generator(
        name="burst_low_then_high",
        summary="low values first, then a burst of high ones",
        generate=part("presets:burst_low_then_high"),
        parameters={"requests": 500, "units": 100, "spread": 10.0, "burst_share": 0.25},
    ),
    Generator(
        name="adversarial_chain",
        summary="k buyers of each level of a geometric grid, from the lowest",
        generate=part("presets:adversarial_chain"),
        parameters={"units": 10, "spread": 4.0, "levels": 5},
    ),
    Generator(
        name="worst_for_finite_k",
        summary="the worst stream for the optimal table of k units",
        generate=part("presets:worst_for_finite_k"),
        parameters={"units": 8, "spread": 4.0},
    ),
    Generator(
        name="bid_trace",
        summary="bundles of several resources, with values for each unit",
        generate=part("presets:bid_trace"),
        parameters={"requests": 200, "units": 30, "resources": 3, "types": 6, "spread": 10.0},
    ),
)
