"""Presets: the paper's settings, a small contended cluster, instances to enumerate (`presets`)."""
