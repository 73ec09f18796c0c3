"""What proves bounds and optima: certificates and their checks, bounds, exact methods.

`certificate`: a time below which no shares suffice. `shares`: the least shares for a time.
"""
