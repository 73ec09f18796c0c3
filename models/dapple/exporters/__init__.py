"""Formats of plans that runtimes execute."""
