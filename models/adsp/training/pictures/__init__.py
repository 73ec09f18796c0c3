"""Pictures of training."""

ORDER = ("timeline", "losses", "time_to_target", "shares")
