"""Pictures of rates.

- `periods`: a period of each worker, computing and committing.
- `equal_rates`: the objective against an equal rate, and its two parts.
- `surface`: the objective over window start and threshold.
- `momentum`: Theorem 1's momentum against an equal rate, in both readings.
"""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)

PICTURES = (
    Picture(
        name="periods",
        summary="a check period of each worker: steps and commits",
        draw=part("periods:draw"),
    ),
    Picture(
        name="equal_rates",
        summary="the objective against an equal rate, the U of the paper",
        draw=part("equal_rates:draw"),
        of="instance",
    ),
    Picture(
        name="surface",
        summary="the objective over fewest commits and threshold",
        draw=part("surface:draw"),
        of="instance",
    ),
    Picture(
        name="momentum",
        summary="implicit momentum against an equal rate, in both readings",
        draw=part("momentum:draw"),
        of="instance",
    ),
)
