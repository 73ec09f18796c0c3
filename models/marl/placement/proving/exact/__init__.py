"""What closes gaps.

- `price_and_close`: the default method: column generation, then all contents within the gap.
- `closing_program`: the integer program over those.
- `branching`: branch and price on what gangs cost.
"""
