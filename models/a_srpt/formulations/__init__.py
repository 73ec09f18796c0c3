"""The models on paper.

- `time_indexed`: starts and configurations tick by tick; its pool relaxation and that by template.
- `cp_model`: models A and B of (F) and the cumulative model of the pool, in CP-SAT.
- `horizon`: by when a schedule has ended.
"""

from gadgetopt.system.declaration import Formulation, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        name="time_indexed",
        model_class="ILP",
        strength="exact",
        summary="a binary variable for every job, configuration and start; servers tick by tick",
        equations="(5) with configurations",
        build=part("time_indexed:build"),
        decode=part("time_indexed:decode"),
        backends=("highs", "cpsat"),
    ),
    Formulation(
        name="pool_time_indexed",
        model_class="ILP",
        strength="relaxation",
        summary="the pool: one resource, shortest durations",
        equations="(5)",
        build=part("time_indexed:build_pool"),
        decode=None,
        backends=("highs", "cpsat"),
    ),
    Formulation(
        name="pool_templates",
        model_class="ILP",
        strength="relaxation",
        summary="the pool with equal jobs counted together",
        equations="(TI-agg)",
        build=part("time_indexed:build_templates"),
        decode=None,
        backends=("highs", "cpsat"),
    ),
)
