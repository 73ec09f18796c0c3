"""What several rooms compute on the way.

- `queue`: which waiting jobs start, and where, by a rule and an order.
- `seats`: GPUs of a board, where a plan does not name them.
- `slots`: a plan, slot by slot, by a queue; whole iterations, exactly.
"""
