"""Pictures, one file each."""

ORDER = ("reservations", "surface", "timeline", "ratio_over_cluster")
