"""Presets and plans of other systems."""
