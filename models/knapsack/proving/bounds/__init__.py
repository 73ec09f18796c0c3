"""Upper bounds on the profit, each with a certificate.

- `multipliers`: Lagrangian and surrogate relaxation at the duals of the linear relaxation
"""
