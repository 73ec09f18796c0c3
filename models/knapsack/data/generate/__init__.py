"""Random instances.

- `presets`: Chu and Beasley's, uncorrelated, multiple-choice, and the quickstart
"""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

GENERATORS = (
    Generator(
        "quickstart",
        summary="a small knapsack like those of `paper`",
        generate=part("presets:quickstart"),
        parameters={"items": 20, "rows": 3},
    ),
    Generator(
        "paper",
        summary="Chu and Beasley's: profits follow the weights",
        generate=part("presets:paper"),
        parameters={"items": 100, "rows": 5, "tightness": 0.25},
    ),
    Generator(
        "uncorrelated",
        summary="profits that do not depend on the weights",
        generate=part("presets:uncorrelated"),
        parameters={"items": 100, "rows": 5, "tightness": 0.5},
    ),
    Generator(
        "multiple_choice",
        summary="like Khan's: exactly one item of each group",
        generate=part("presets:multiple_choice"),
        parameters={"groups": 15, "items": 10, "rows": 10},
    ),
)
