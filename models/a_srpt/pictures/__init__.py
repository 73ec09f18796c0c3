"""Pictures, one per file.

- `gantt`: the GPUs over time, alone and below the virtual machine.
- `flow_times`: flow times under each policy.
- `prediction_errors`: errors of each predictor.
- `prices`: the price function with the usage.
- `ladder`: the bounds, beside the schedule.
"""

ORDER = ("gantt", "prices", "ladder", "flow_times", "prediction_errors")
