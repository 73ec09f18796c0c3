"""Rules that sellers are compared with (`posted`)."""
