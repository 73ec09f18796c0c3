"""Pictures of placements and of instances."""

ORDER = ("servers", "interference", "how_many_servers", "ignored")
