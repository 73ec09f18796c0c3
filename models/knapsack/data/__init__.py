"""Instances: generators (`generate`) and importers of public benchmarks (`importers`)."""
