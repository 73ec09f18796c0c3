"""Presets of random instances (`presets`)."""
