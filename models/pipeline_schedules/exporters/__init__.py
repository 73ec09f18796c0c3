"""Formats of schedules that runtimes execute."""
