"""Presets: prices of the theory and random ones (`presets`)."""
