"""Instances from traces of real clusters (`traces`)."""
