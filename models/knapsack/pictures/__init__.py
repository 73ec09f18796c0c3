"""Pictures, one file each.

- `capacities`: what the chosen items take of every capacity
"""
