"""Theorem 2, and which of its conditions an instance or a run shows (`conditions`)."""
