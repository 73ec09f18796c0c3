"""Pictures, one per file."""
