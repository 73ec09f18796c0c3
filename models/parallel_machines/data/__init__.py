"""Instances: generators (`generate`) and importers of tables (`importers`)."""
