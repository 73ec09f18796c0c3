"""What proves bounds and optima: certificates and their checks, bounds, exact methods.

- `certificate`: prices, counts and tables that prove a bound, and their check.
- `prefix_search`: all orders, by the sets of batches that they begin with.
- `reload_tables`: what must be loaded again, over all sets of batches.
"""
