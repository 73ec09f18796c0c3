"""Models of ours.

- `cp_model`: models A and B of (F) and the cumulative model of the pool, in CP-SAT.
"""
