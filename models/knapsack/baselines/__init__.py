"""Baselines without a guarantee.

- `greedy`: by density, or by exchanges within groups.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "greedy",
        kind="baseline",
        summary="by profit per part of the fullest row; exchanges within groups",
        reference="greedy",
        run=part("greedy:greedy"),
    ),
)
