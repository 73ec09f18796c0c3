"""Exact methods: the sweep and the labels that `exact_rates` chooses from, outer approximation.

- `sweep`: thresholds from large to small, window by window.
- `exact_rates`: the sweep with its certificate; under the momentum cap, labels.
- `outer_approximation`: the one-hot model with ever more tangents.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="exact_rates",
        kind="exact",
        summary="threshold sweep; under the momentum cap, labels within the Lagrangian gap",
        reference="this project",
        run=part("exact_rates:exact_rates"),
        formulation="exact_rates",
    ),
    Method(
        name="outer_approximation",
        kind="exact",
        summary="one-hot model with a tangent of the objective added at each optimum",
        reference="(O1)-(O7); Duran and Grossmann 1986",
        run=part("outer_approximation:outer_approximation"),
        parameters={"rounds": 50},
        formulation="one_hot",
        backend="highs",
    ),
)
