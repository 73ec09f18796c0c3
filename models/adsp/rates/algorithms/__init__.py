"""The paper's rule: every worker commits equally often, the rate climbs by one (`climb`).

The search step by step is in `plain`.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="adsp",
        kind="heuristic",
        summary="equal commits; from the initial rate up by one while the objective falls",
        reference="Algorithm 1, with the model's objective for the measured reward",
        run=part("climb:adsp"),
        parameters={"initial": 1},
    ),
)
