"""Instances: generators."""
