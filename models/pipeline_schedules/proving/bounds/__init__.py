"""Lower bounds by formulas (`formulas`)."""
