"""What closes the gap (`branch_and_bound`)."""
