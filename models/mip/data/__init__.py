"""Instances: generators (`generate`) and importers of model files (`importers`)."""
