"""What proves bounds and optima: certificates and their checks, bounds, exact methods."""
