"""What proves bounds and optima.

- `certificate`: the proofs of a lower bound, and their checks.
- `bounds`: relaxations, and what computes their certificates.
- `exact`: the pool, then its servers.
"""
