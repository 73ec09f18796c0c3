"""Bounds and what computes their certificates."""
