"""The paper's learned scheduler at work (reconstructed).

- `plain`: slot by slot, without boards
- `learned`: the method
"""
