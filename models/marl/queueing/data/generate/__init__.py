"""Presets: jobs that arrive as a Poisson process (`presets`)."""
