"""Presets: grids of values, and predictions (`presets`)."""
