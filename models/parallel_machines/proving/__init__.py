"""What proves bounds and optima.

- `certificate`: the proofs of a lower bound on the makespan, and their check.
- `bounds`: lower bounds with certificates.
- `exact`: the search that closes the gap at any size.
"""
