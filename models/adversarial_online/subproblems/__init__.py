"""What the three problems share.

- `prices`: posted prices and lotteries over them, as data.
- `replay`: what posted prices sell to a sequence, exactly.
- `offline`: the offline optimum (P), exactly.
- `curves`: the price curves and tables of the theory.
- `responses`: the best response of a seller to weighted sequences, exactly.
- `grids`: grids of values.
- `adversary`: the dynamic program that finds the worst sequence, exactly.
"""
