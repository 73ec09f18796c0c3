"""Presets: a small training, the paper's testbed, and the examples of the page (`presets`)."""
