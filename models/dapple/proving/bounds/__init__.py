"""Lower bounds over all plans (`least_bound`)."""
