"""What proves bounds and optima.

- `certificate`: the proofs of a lower bound on the cost, and their checks.
- `bounds`: lower bounds, and what computes their certificates.
- `exact`: elimination with cuts and CP-SAT for what is left; branch and cut.

What `bounds` and `exact` share: `elimination` of the branched nodes, their `terms` and
`elimination_order`; the linear program `cut_lp` and its `cut_separation`.
"""
