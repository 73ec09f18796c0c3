"""What the three problems share.

- `prices`: posted prices and lotteries over them, as data.
- `replay`: what posted prices sell to a sequence, exactly.
- `offline`: the offline optimum (P), exactly.
- `curves`: the price curves and tables of the theory.
- `responses`: the best response of a seller to weighted sequences, exactly.
- `grids`: grids of values.
- `automaton`: what requests do to posted prices and to an offline seller.
- `adversary`: the dynamic program that finds the worst sequence, exactly.
"""
