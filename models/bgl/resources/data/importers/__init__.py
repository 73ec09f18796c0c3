"""Instances from profiles of the cache workflow (`profile_csv`)."""
