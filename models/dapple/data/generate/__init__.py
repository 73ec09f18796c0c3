"""Presets: random chains, networks like the paper's, and what misleads the planner (`presets`)."""
