"""Pictures of training.

- `timeline`: what each worker does.
- `losses`: loss curves of the policies.
- `time_to_target`: seconds to the target against the rate.
- `shares`: computing, communicating and waiting by policy.
"""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)

PICTURES = (
    Picture(
        name="timeline",
        summary="computing, communicating and waiting of each worker",
        draw=part("timeline:draw"),
    ),
    Picture(
        name="losses",
        summary="loss over time under ADSP and what it was compared with",
        draw=part("losses:draw"),
        of="instance",
    ),
    Picture(
        name="time_to_target",
        summary="seconds to the target against commits in a period: the U of the paper",
        draw=part("time_to_target:draw"),
        of="instance",
    ),
    Picture(
        name="shares",
        summary="shares of computing, communicating and waiting by policy",
        draw=part("shares:draw"),
        of="instance",
    ),
)
