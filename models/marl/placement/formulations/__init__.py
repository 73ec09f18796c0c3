"""The model on paper.

- `assignment`: F1, tasks on servers: products linearised, with big-M, or as they are.
"""
