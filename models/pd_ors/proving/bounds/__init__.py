"""Upper bounds on the total utility, each with prices as its certificate.

- `alone`, `volume_knapsack`, `price_bound`: from the cheapest on.
- `column_lp`: the linear relaxation of the schedule columns, by column generation
  (`column_generation`, `restricted_master`, `class_pricing`).
- `infeasibility`: jobs that can earn nothing, and why.
- `branching_constraints`, `forced_plans`: what branch-and-price adds to its master and its pricing.
"""
