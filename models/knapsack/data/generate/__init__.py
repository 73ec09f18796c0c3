"""Random instances.

- `presets`: Chu and Beasley's, uncorrelated, multiple-choice, and the quickstart
"""
