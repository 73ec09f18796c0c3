"""Plans as files that others execute or show."""
