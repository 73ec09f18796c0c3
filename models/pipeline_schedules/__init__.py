"""Schedules of pipelines whose backward is split: the shortest order of operations.

Each room declares its own parts. The literature:

- `instance`, `evaluate`, `features`; `cells`: what devices execute; `program`, `timing`: what waits
  for what, and when

Ours:

- `data`: presets
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
    default_method="one_f_one_b",
    default_methods=("one_f_one_b",),
)
