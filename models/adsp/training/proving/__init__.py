"""What proves bounds and optima.

- `certificate`: the proofs of a lower bound on the time, and their check.
- `bounds`: updates have to arrive.
- `exact`: every policy that is offered, each simulated.
"""
