"""Pictures of plans and of instances."""
