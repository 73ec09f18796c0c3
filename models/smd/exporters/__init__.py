"""Formats of schedules that others show."""
