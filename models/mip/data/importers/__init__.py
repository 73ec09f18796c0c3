"""Model files of solvers, read exactly.

- `files`: MPS, LP and .nl; a file of these formats is an instance as it stands
"""
