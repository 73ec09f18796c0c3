"""Instances: generators and importers."""
