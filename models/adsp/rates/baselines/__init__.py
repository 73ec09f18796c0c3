"""Rules of thumb: the best equal rate, rates by speed, and as often as possible (`rules`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="equal_commits",
        kind="baseline",
        summary="the best of all equal rates",
        reference="ADSP's rule, fairness window 0",
        run=part("rules:equal_commits"),
    ),
    Method(
        name="by_speed",
        kind="baseline",
        summary="commits in proportion to speed, the best factor",
        reference="equal local steps, as in periodic averaging",
        run=part("rules:by_speed"),
    ),
    Method(
        name="most_commits",
        kind="baseline",
        summary="as many commits as window and cap allow",
        reference="as bulk-synchronous training",
        run=part("rules:most_commits"),
    ),
)
