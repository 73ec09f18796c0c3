"""Presets: stages drawn uniformly (`presets`)."""
