"""Claims that were checked."""
