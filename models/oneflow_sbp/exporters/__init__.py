"""Plans as files that others execute."""
