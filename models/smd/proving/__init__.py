"""What proves bounds and optima.

- `certificate`: proofs of upper bounds, and their check
- `bounds`: Lagrangian bound, sum of utilities, continuous relaxation
- `exact`: dynamic programming, column generation with a core, CP-SAT
"""
