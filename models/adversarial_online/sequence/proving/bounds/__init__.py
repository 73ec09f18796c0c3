"""Upper bounds on the ratio or the regret, each with a certificate (`any_horizon`)."""
