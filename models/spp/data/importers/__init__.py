"""Instances from profiles, configurations and exported programs of real networks."""
