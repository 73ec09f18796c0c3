"""Instances from profiles (`profiles`), configurations and exported programs of networks."""
