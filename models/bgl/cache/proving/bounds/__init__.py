"""Lower bounds on the cost of loading, each with a certificate.

- `compulsory`: every feature once.
- `boundary_prices`: prices of the cache's space, for a given order.
- `order_tables`: what bottlenecks and heavy paths say of all orders of fixed batches.
"""
