"""Pictures, one file each."""

ORDER = ("plan", "edge", "pareto", "phases")
