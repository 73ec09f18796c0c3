"""Instances from logs of arrivals (`arrivals`)."""
