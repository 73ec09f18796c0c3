"""What proves bounds and optima.

- `certificate`: the proofs of a lower bound on the cost, and their checks.
- `bounds`: multipliers, messages, mini-buckets.
- `exact`: elimination; branch and bound.

What `bounds` and `exact` share: `elimination` (`classes` of equal buckets, `order`), `lagrangian`,
`messages` (`layout`, `sweeps`), `reweighted`, `min_marginals`, `dominance`, and `proof`, which
writes what they found as a certificate. Nothing of this is used by the checks.

`execution` and its `kernels` compute a plan on pretend devices, and count what they receive.
"""
