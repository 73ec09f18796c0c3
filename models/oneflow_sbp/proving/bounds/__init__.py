"""Lower bounds, each with a certificate; the linear relaxations are `formulations`.

- `lagrangian`: elimination with memory priced in.
- `reparametrisation`: costs moved between tables by reweighted messages.
- `mini_buckets`: elimination whose buckets are split.
- `compute_only`: the cheapest compute of every operator.
"""
