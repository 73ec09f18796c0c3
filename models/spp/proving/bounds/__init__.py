"""Lower bounds on the iteration time.

- `plans`: all work spread evenly; the least head-load-tail bound of all plans.
- `least_load`: the least largest load of all plans.
"""
