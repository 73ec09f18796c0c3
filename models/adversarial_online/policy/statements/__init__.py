"""Statements of the standard theory that the reconstruction uses, checked (`checks`)."""
