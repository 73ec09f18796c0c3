"""Statements of the paper, reconstructed from its abstract, that were checked (`checks`)."""
