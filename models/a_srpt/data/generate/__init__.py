"""Presets (`presets`) and the random jobs that they draw (`random_jobs`)."""
