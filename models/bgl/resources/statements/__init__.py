"""Statements of the paper, recalled without its text, that were checked (`checks`)."""
