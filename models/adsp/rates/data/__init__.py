"""Instances: generators (`generate`)."""
