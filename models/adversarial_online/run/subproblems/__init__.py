"""What policies of a run have in common.

- `selling`: what posted prices sell to a stream of any length, in exact integers.
- `one_draw`: what a policy that draws once sells in expectation, request by request.
- `price_bound`: what prices of the resources prove.
- `outcome`: plays and closing prices as the outcome of a method.
"""
