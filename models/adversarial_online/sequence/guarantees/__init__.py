"""The theorem on the chain of all levels (`chain`)."""
