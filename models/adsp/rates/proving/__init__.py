"""What proves bounds and optima.

- `certificate`: the proofs of a lower bound, and their checks.
- `bounds`: Lagrangian, of the model with the momentum cap.
- `exact`: threshold sweep, labels, outer approximation.
"""
