"""Instances: generators with the paper's settings, and importers of traces."""
