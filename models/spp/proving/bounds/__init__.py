"""Lower bounds on the iteration time.

- `plans`: all work spread evenly; the least head-load-tail bound of all plans.
- `least_load`: the least largest load of all plans.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="even_work",
        kind="relaxation",
        summary="all work spread evenly over all GPUs",
        reference="counting",
        run=part("plans:even_work"),
        formulation="even_work",
    ),
    Method(
        name="plan_bound",
        kind="relaxation",
        summary="LB*: the least head-load-tail bound of all plans, by labels",
        reference="(S6)",
        run=part("plans:plan_bound"),
        formulation="plan_bound",
    ),
    Method(
        name="least_load",
        kind="relaxation",
        summary="W*: the least largest load of all plans, by dynamic programming",
        reference="(S5)",
        run=part("least_load:least_load"),
        formulation="least_load",
    ),
)
