"""Pictures of decisions."""

ORDER = ("schedule", "use", "prices", "payoffs")
