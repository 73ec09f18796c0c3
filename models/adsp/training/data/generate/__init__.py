"""Presets: a small training, the paper's testbed, and the examples of the page (`presets`)."""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

GENERATORS = (
    Generator(
        name="quickstart",
        summary="three workers, one three times slower; ridge regression",
        generate=part("presets:quickstart"),
        parameters={"max_commits": 8},
    ),
    Generator(
        name="paper",
        summary="18 workers of the testbed's speeds at a degree of heterogeneity",
        generate=part("presets:paper"),
        parameters={
            "workers": 18,
            "heterogeneity": 2.0,
            "delay_s": 0.0,
            "task": "ridge",
            "momenta": (0.0,),
        },
    ),
    Generator(
        name="slow",
        summary="three workers and a task of small steps and much noise: many periods",
        generate=part("presets:slow"),
        parameters={"max_commits": 30},
    ),
)
