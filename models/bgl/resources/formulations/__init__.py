"""The models on paper, one file each.

- `products`: (9) as it stands, with products of shares and times, for SCIP.
- `tables`: a binary variable for every share, for HiGHS.
- `elements`: element constraints over ranks of times, in CP-SAT.
"""
