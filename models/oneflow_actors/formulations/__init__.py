"""The models, one file each.

- `cyclic`: (C1)-(C8), starts in parts of the period: linear, without a large constant.
- `bilinear`: (B1)-(B6), starts in seconds: the same model, with products of the period.
- `disjunctive`: (D1)-(D7), a fixed number of microbatches, starts in parts of the makespan.
- `cp`: a fixed number of microbatches, intervals in CP-SAT.
- `decoding`: from which firing is between which to the orders of streams.
"""
