"""What proves bounds and optima: certificates and their checks, models, bounds, exact methods.

`knapsack_bound`: the best ring sizes of a slot by total capacity.
"""
