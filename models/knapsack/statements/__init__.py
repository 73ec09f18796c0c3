"""Statements of the literature that were checked (`checks`)."""
