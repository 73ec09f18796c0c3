"""Pictures of worst sequences (`arrivals`)."""
