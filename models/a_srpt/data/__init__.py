"""Instances: generators (`generate`) and importers of traces (`importers`)."""
