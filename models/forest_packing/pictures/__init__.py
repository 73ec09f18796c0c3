"""Pictures of instances and solutions."""

ORDER = ("trees", "utilisation", "study")
