"""Presets: equal stages of any ratio of times (`presets`)."""
