"""Instances from logs of arrivals (`arrivals`) and traces of real clusters (`traces`)."""
