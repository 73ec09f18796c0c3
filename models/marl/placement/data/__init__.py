"""Instances: generators, importers and the learned policies' trainings."""
