"""Statements of the paper, recalled and checked against its released source (`checks`)."""
