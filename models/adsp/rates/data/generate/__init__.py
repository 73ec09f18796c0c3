"""Presets: small ones, the paper's testbed, and many workers (`presets`)."""
