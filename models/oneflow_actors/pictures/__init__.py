"""Pictures: one file each."""

ORDER = ("schedule", "memory")
