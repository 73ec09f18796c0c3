"""Schedules of pipelines whose backward is split: the shortest order of operations.

Each room declares its own parts. The literature:

- `instance`, `evaluate`, `features`; `cells`: what devices execute; `program`, `timing`: what waits
  for what, and when
- `formulations`: disjunctive, time-indexed, constraint program; `shop`, `bounding`: an instance as
  whole numbers, and lower bounds by formulas
- `baselines`: published schedules
- `guarantees`: where ZB-H1 is optimal; `statements`: claims that were checked

Ours:

- `heuristics`: list schedules by many rules, local search
- `proving`: certificates, bounds, the search that closes the gap
- `data`: presets, plans of SPP and DAPPLE
- `pictures`: a step, its memory and bubbles, the optimum over memory
"""

from gadgetopt.system.declaration import Citation, Problem

PROBLEM = Problem(
    package=__name__,
    name="pipeline_schedules",
    title="Pipeline schedules with split backward, zero bubble and DualPipe",
    citation=Citation(
        authors="Penghui Qi, Xinyi Wan, Guangxing Huang, Min Lin",
        title="Zero Bubble Pipeline Parallelism",
        venue="ICLR",
        year=2024,
        arxiv="2401.10241",
    ),
    sense="min",
    objective="makespan or period, s",
    default_method="close_gap",
    default_methods=(
        "gpipe",
        "one_f_one_b",
        "zb_h1",
        "zb_h2",
        "zb1p",
        "zb_auto",
        "zbv",
        "list_schedules",
        "formulas",
        "close_gap",
    ),
)
