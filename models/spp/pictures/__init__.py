"""Pictures: one file each."""

ORDER = ("schedule", "critical", "mapping", "curves", "memory")
