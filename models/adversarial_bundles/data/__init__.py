"""Instances drawn (`generate`)."""
