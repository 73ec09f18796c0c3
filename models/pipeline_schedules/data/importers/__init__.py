"""Instances from plans of other systems."""
