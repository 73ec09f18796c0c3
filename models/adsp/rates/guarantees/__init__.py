"""What is proven of the rates, and what Theorem 1 can be checked for (`checks`)."""
