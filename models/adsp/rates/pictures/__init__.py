"""Pictures of rates."""

ORDER = ("periods", "equal_rates", "surface", "momentum")
