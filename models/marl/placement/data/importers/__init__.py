"""Instances from real data: job mixes of traces (`traces`), measured slowdowns (`measured`)."""
