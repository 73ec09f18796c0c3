"""What proves bounds and optima.

- `certificate`: the proof of an upper bound on the value, and its check.
- `bounds`: what computes such proofs.
- `exact`: what closes the gap.
"""
