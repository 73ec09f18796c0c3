"""Presets: random instances, and the worst cases of Graham's theorems (`presets`)."""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

GENERATORS = (
    Generator(
        name="quickstart",
        summary="a few jobs on which LPT is rarely optimal",
        generate=part("presets:quickstart"),
        parameters={"jobs": 12, "machines": 4},
    ),
    Generator(
        name="paper",
        summary="França et al.'s: processing times from 1 to 100, 1000 or 10,000",
        generate=part("presets:paper"),
        parameters={"jobs": 100, "machines": 25, "longest_s": 100},
    ),
    Generator(
        name="uniform",
        summary="processing times from a range; few jobs a machine are hard",
        generate=part("presets:uniform"),
        parameters={"jobs": 100, "machines": 40, "shortest_s": 1, "longest_s": 100},
    ),
    Generator(
        name="non_uniform",
        summary="Frangioni et al.'s: mostly long jobs and a few short ones",
        generate=part("presets:non_uniform"),
        parameters={"jobs": 100, "machines": 10, "longest_s": 1000},
    ),
    Generator(
        name="graham_lpt",
        summary="the worst case of LPT, 4/3 - 1/(3m) times the optimum",
        generate=part("presets:graham_lpt"),
        parameters={"machines": 3},
    ),
    Generator(
        name="graham_list",
        summary="a worst case of list scheduling, 2 - 1/m times the optimum",
        generate=part("presets:graham_list"),
        parameters={"machines": 3},
    ),
)
