"""Pictures: one file each."""

ORDER = ("schedule", "latency", "memory", "mapping", "curves")
