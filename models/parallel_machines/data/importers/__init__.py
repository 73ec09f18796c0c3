"""Instances from tables of processing times (`jobs_csv`)."""
