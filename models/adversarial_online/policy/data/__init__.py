"""Instances: generators (`generate`), and what trains the learned policy (`learning`)."""
