"""Pictures of decisions: `schedule`, `use`, `prices`, `payoffs`."""
