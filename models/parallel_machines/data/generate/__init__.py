"""Presets: random instances, and the worst cases of Graham's theorems (`presets`)."""
