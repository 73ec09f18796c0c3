"""Presets: small ones, the paper's testbed, and many workers (`presets`)."""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

GENERATORS = (
    Generator(
        name="quickstart",
        summary="six workers of three speeds, at most three commits apart",
        generate=part("presets:quickstart"),
        parameters={"workers": 6, "fairness_window": 3},
    ),
    Generator(
        name="paper",
        summary="18 workers of the testbed's four speeds at a degree of heterogeneity",
        generate=part("presets:paper"),
        parameters={"workers": 18, "heterogeneity": 2.0, "delay_s": 0.0, "model": "error_bound"},
    ),
    Generator(
        name="uniform",
        summary="step and commit times from ranges",
        generate=part("presets:uniform"),
        parameters={
            "workers": 100,
            "max_commits": 30,
            "fairness_window": 6,
            "model": "error_bound",
            "cap_per_worker": 0.0,
        },
    ),
    Generator(
        name="one_straggler",
        summary="one worker so slow that it cannot commit as often as the others should",
        generate=part("presets:one_straggler"),
        parameters={"workers": 8, "slowdown": 20.0},
    ),
)
