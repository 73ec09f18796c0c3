"""Instances: generators (`generate`) and importers of profiles (`importers`)."""
