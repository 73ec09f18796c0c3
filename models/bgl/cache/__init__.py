"""BGL cache (being assembled)."""
