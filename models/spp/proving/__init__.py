"""What proves bounds and optima.

- `certificate`: the proofs of a lower bound on the iteration time, and their check.
- `bounds`: lower bounds with certificates.
- `exact`: the search over all plans.
"""
