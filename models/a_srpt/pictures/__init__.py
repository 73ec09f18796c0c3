"""Pictures, one per file.

- `gantt`: the GPUs over time, alone and below the virtual machine.
- `flow_times`: flow times under each policy.
- `prediction_errors`: errors of each predictor.
- `prices`: the price function with the usage.
- `ladder`: the bounds, beside the schedule.
"""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)

PICTURES = (
    Picture("gantt", summary="the GPUs of each server over time", draw=part("gantt:gantt")),
    Picture(
        "beside_virtual",
        summary="the schedule below the virtual machine that guides A-SRPT",
        draw=part("gantt:beside_virtual"),
    ),
    Picture(
        "prices",
        summary="prices of GPU-time, and the GPUs that the schedule uses",
        draw=part("prices:draw"),
    ),
    Picture(
        "ladder",
        summary="what each bound proves, beside the schedule's value",
        draw=part("ladder:draw"),
    ),
    Picture(
        "flow_times",
        summary="distribution of flow times under each policy",
        draw=part("flow_times:draw"),
        of="instance",
    ),
    Picture(
        "prediction_errors",
        summary="errors of the predicted iterations, for each predictor",
        draw=part("prediction_errors:draw"),
        of="instance",
    ),
)
