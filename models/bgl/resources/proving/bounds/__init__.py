"""A lower bound with a certificate: shares that need not be whole (`continuous`)."""
