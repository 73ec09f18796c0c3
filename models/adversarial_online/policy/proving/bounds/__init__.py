"""Lower bounds on every policy's worst case, each with a certificate (`hardest_chain`)."""
