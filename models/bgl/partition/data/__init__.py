"""Instances: generators (`generate`) and importers of graphs (`importers`)."""
