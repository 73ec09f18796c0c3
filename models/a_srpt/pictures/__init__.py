"""Pictures, one per file."""

ORDER = ("gantt", "prices", "ladder", "flow_times", "prediction_errors")
