"""Instances: generators (`generate`) and importers (`importers`)."""
