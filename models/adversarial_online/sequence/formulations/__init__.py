"""The models on paper.

- `posted_prices`: the integer program (3) of one resource, for a fixed ratio or the regret.
- `cp`: the same as a constraint program.
- `resources`: the integer program of several resources.

The ratio is a quotient of two linear functions; `proving.exact.dinkelbach` finds the ratio at which
these models have the optimum 0. The regret is linear, and then they stand alone.
"""

from gadgetopt.system.declaration import Formulation, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        name="posted_prices",
        model_class="ILP",
        strength="exact",
        summary="level of every arrival and units sold as one-hot states; regret only",
        equations="(3), (3a)-(3g)",
        build=part("posted_prices:build"),
        decode=part("posted_prices:decode"),
        backends=("highs", "cpsat"),
    ),
    Formulation(
        name="resources",
        model_class="ILP",
        strength="exact",
        summary="several resources, units used as one-hot states; regret only",
        equations="(R1)-(R9)",
        build=part("resources:build"),
        decode=part("resources:decode"),
        backends=("highs", "cpsat"),
    ),
)
