"""Presets (`presets`)."""
