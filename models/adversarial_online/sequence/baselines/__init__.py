"""The sequence that a seller would try first: the chain of all levels (`chain`)."""
