"""What proves bounds and optima.

- `certificate`: the check of bounds at multipliers of the rows.
- `bounds`: Lagrangian and surrogate relaxation.
- `exact`: column generation and core, enumeration, dynamic programming.
"""
