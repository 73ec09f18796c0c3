"""Pictures, one per file."""

ORDER = ("gantt", "network", "gains", "envelope")
